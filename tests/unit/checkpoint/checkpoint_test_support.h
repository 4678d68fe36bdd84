// Fixtures of tests/data/checkpoint.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "fovea/checkpoint/weight_source.h"
#include "fovea/io/safetensors.h"
#include "support/data.h"
#include "unit/io/io_test_support.h"

namespace fovea {

inline std::filesystem::path checkpoint_data(std::string_view name) {
  return test_data("checkpoint") / name;
}

inline std::string read_fixture(std::string_view name) {
  std::ifstream stream(checkpoint_data(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Whether `source` gives just the tensors of a safetensors file, bit for bit.
inline void expect_same_tensors(const WeightSource& source, const std::filesystem::path& expected) {
  const auto file = SafetensorsFile::open(expected);
  EXPECT_EQ(source.tensors().size(), file.entries().size());
  for (size_t i = 0; i < source.tensors().size(); ++i) {
    const TensorInfo& info = source.tensors()[i];
    SCOPED_TRACE(info.name);
    ASSERT_NE(file.find(info.name), nullptr);
    const Tensor tensor = source.read(i);
    EXPECT_EQ(tensor.dtype(), info.dtype);
    EXPECT_EQ(tensor.shape(), info.shape);
    EXPECT_TRUE(same_tensor(tensor, file.tensor(info.name)));
  }
}

}  // namespace fovea
