#include "fovea/ops/embedding.h"

#include <gtest/gtest.h>

#include "fovea/tensor/convert.h"
#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::all_close;
using support::Doubles;
using support::random_tensor;
using support::to_doubles;

TEST(Embedding, TakesRowsByNumber) {
  const Tensor table = random_tensor({7, 5}, 1);
  const std::vector<int64_t> ids{3, 0, 3, 6, 3};
  const Tensor rows = ops::embedding(StoredMatrix(table), ids);
  ASSERT_EQ(rows.shape(), Shape({5, 5}));
  for (size_t i = 0; i < ids.size(); ++i) {
    for (int64_t c = 0; c < 5; ++c) {
      EXPECT_EQ(rows.matrix<float>()(static_cast<int64_t>(i), c), table.matrix<float>()(ids[i], c));
    }
  }
}

TEST(Embedding, WidensHalfPrecisionTables) {
  const Tensor table = convert(random_tensor({4, 3}, 1), DType::kBF16);
  const Tensor wide = convert(table, DType::kF32);
  const Tensor rows = ops::embedding(StoredMatrix(table), std::vector<int64_t>{2});
  EXPECT_EQ(rows.dtype(), DType::kF32);
  const Doubles all = to_doubles(wide);
  EXPECT_TRUE(all_close(rows, Doubles(all.begin() + 6, all.begin() + 9), 0));
}

TEST(Embedding, RefusesNumbersThatAreNotThere) {
  const StoredMatrix table(random_tensor({4, 3}, 1));
  EXPECT_THROW(ops::embedding(table, std::vector<int64_t>{4}), Error);
  EXPECT_THROW(ops::embedding(table, std::vector<int64_t>{-1}), Error);
  EXPECT_EQ(ops::embedding(table, {}).elements(), 0);
}

}  // namespace
}  // namespace fovea
