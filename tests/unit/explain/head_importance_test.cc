#include "fovea/explain/head_importance.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

TEST(HeadImportance, IsTheSizeOfTheProductOfOutputAndGradient) {
  AttentionRecord record = support::record_of(support::plain_case(2, 2, false, 1), {});
  record.output = Tensor::from<float>({1, 2, 2}, std::vector<float>{1, 2, 3, 4});
  record.output_gradient = Tensor::from<float>({1, 2, 2}, std::vector<float>{-5, 1, 0, -1});
  EXPECT_EQ(head_importance(record), std::vector<double>{7});  // -5 + 2 + 0 - 4
}

TEST(HeadImportance, RefusesARecordWithoutOutputOrGradient) {
  AttentionRecord record = support::record_of(support::plain_case(2, 2, false, 1), {});
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "without outputs", [&] { head_importance(record); }));
  record.output = Tensor(Shape{1, 2, 2});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "without an output gradient",
                         [&] { head_importance(record); }));
}

TEST(HeadImportance, OfALayerIsDividedByItsLength) {
  std::vector<double> heads{3, 0, 4};
  normalise_layer(heads);
  EXPECT_EQ(heads, (std::vector<double>{0.6, 0, 0.8}));
  std::vector<double> none{0, 0};
  normalise_layer(none);
  EXPECT_EQ(none, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace fovea
