#include "fovea/io/tensor_bytes.h"
#include "fovea/base/utf8.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(TensorBytes, BorrowsWhatIsAlignedAndKeptAlive) {
  const auto values = std::make_shared<std::array<float, 3>>(std::array<float, 3>{1, 2, 3});
  const Bytes bytes = std::as_bytes(std::span(*values));
  const Tensor borrowed = tensor_from_bytes({3}, DType::kF32, bytes, values);
  EXPECT_EQ(borrowed.raw(), bytes.data());
  const Tensor copied = tensor_from_bytes({3}, DType::kF32, bytes, nullptr);
  EXPECT_NE(copied.raw(), bytes.data());
  EXPECT_EQ(copied.values<float>()[2], 3);
}

TEST(TensorBytes, CopiesWhatIsNotAligned) {
  alignas(4) std::array<std::byte, 9> storage{};
  const float value = 2.5F;
  std::memcpy(storage.data() + 1, &value, sizeof value);
  const Bytes bytes = std::span(storage).subspan(1, 4);
  const auto owner = std::make_shared<int>(0);
  EXPECT_EQ(tensor_from_bytes({1}, DType::kF32, bytes, owner).values<float>()[0], 2.5F);
}

TEST(TensorBytes, RefusesShapesAndBooleansThatCannotBe) {
  EXPECT_THROW(shape_from_file({2, -1}, "x"), Error);
  EXPECT_THROW(shape_from_file({int64_t{1} << 40, int64_t{1} << 40}, "x"), Error);
  EXPECT_EQ(shape_from_file({2, 3}, "x"), (Shape{2, 3}));
  const std::array<std::byte, 2> flags{std::byte{1}, std::byte{2}};
  EXPECT_THROW(check_bool_bytes(flags, "x"), Error);
  check_bool_bytes(std::span(flags).first(1), "x");
}

}  // namespace
}  // namespace fovea
