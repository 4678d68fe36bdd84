#include "fovea/kernels/parallel_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace fovea {
namespace {

TEST(ParallelRows, EveryRowBelongsToOneRange) {
  for (const int64_t rows : {0, 1, 7, 100, 5000}) {
    for (const int64_t row_elements : {0, 1, 1000, 100000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(rows));
      parallel_rows(rows, row_elements, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) ++visits[static_cast<size_t>(row)];
      });
      for (const auto& count : visits) ASSERT_EQ(count.load(), 1) << rows << " " << row_elements;
    }
  }
}

TEST(ParallelRows, LittleWorkIsOneCall) {
  int calls = 0;
  parallel_rows(10, 100, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace fovea
