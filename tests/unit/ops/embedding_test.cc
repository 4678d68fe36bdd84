#include "fovea/ops/embedding.h"

#include <gtest/gtest.h>

#include "fovea/tensor/convert.h"
#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::all_close;
using support::check_gradients;
using support::Doubles;
using support::random_tensor;
using support::to_doubles;

TEST(Embedding, MatchesDoubleWithItsGradient) {
  const std::vector<int64_t> ids{3, 0, 3, 6, 3};  // one number three times: its gradients add up
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    check_gradients({.op = [&](const auto& x) { return ops::embedding(x[0], ids); },
                     .reference =
                         [&](const auto& x) {
                           Doubles result;
                           for (const int64_t id : ids) {
                             for (size_t c = 0; c < 5; ++c) {
                               result.push_back(x[0][static_cast<size_t>(id) * 5 + c]);
                             }
                           }
                           return result;
                         },
                     .inputs = {random_tensor({7, 5}, seed)}},
                    seed + 10);
  }
}

TEST(Embedding, WidensHalfPrecisionTables) {
  const Tensor table = convert(random_tensor({4, 3}, 1), DType::kBF16);
  const Tensor wide = convert(table, DType::kF32);
  const Value rows = ops::embedding(StoredMatrix(table), std::vector<int64_t>{2});
  EXPECT_EQ(rows.tensor.dtype(), DType::kF32);
  const Doubles all = to_doubles(wide);
  EXPECT_TRUE(all_close(rows.tensor, Doubles(all.begin() + 6, all.begin() + 9), 0));
}

TEST(Embedding, RefusesNumbersThatAreNotThere) {
  const Value table = random_tensor({4, 3}, 1);
  EXPECT_THROW(ops::embedding(table, std::vector<int64_t>{4}), Error);
  EXPECT_THROW(ops::embedding(table, std::vector<int64_t>{-1}), Error);
  EXPECT_THROW(ops::embedding(Value(random_tensor({4}, 1)), std::vector<int64_t>{0}), Error);
  EXPECT_EQ(ops::embedding(table, {}).tensor.elements(), 0);
}

}  // namespace
}  // namespace fovea
