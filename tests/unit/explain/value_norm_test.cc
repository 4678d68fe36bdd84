#include "fovea/explain/value_norm.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/explain/method.h"
#include "support/errors.h"
#include "unit/explain/block_records.h"

namespace fovea {
namespace {

using support::BlockCase;
using support::dense_terms;

// f32 products of a dozen numbers near 1.
constexpr double kNormTolerance = 1e-5;

double length(const std::vector<double>& vector) {
  return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

TEST(ValueNorm, OfARowEqualsTheVectorsForEveryKindOfBlock) {
  for (const BlockCase& block : support::block_cases()) {
    SCOPED_TRACE(block.name);
    const auto record = support::block_record(block, 17);
    for (const BlockExtent extent :
         {BlockExtent::kAttention, BlockExtent::kResidual, BlockExtent::kNorm}) {
      SCOPED_TRACE(kBlockExtents.name_of(extent));
      for (int64_t i = 0; i < record->shape().rows; ++i) {
        const auto terms = dense_terms(*record, extent, i);
        const std::vector<double> norms = value_norm_row(record, i, extent);
        ASSERT_EQ(norms.size(), terms.size());
        for (size_t j = 0; j < terms.size(); ++j) {
          ASSERT_NEAR(norms[j], length(terms[j]), kNormTolerance) << i << ", " << j;
        }
      }
    }
  }
}

// More columns than are transformed at a time.
TEST(ValueNorm, GoesOnAfterTheFirstBlockOfColumns) {
  const auto record = support::block_record(support::block_cases()[0], 300);
  for (const int64_t i : {99, 199, 299}) {
    const auto terms = dense_terms(*record, BlockExtent::kNorm, i);
    const std::vector<double> norms = value_norm_row(record, i, BlockExtent::kNorm);
    for (size_t j = 0; j < terms.size(); ++j) {
      ASSERT_NEAR(norms[j], length(terms[j]), kNormTolerance) << i << ", " << j;
    }
  }
}

TEST(ValueNorm, MixingRatioIsAllOrNothingAtTheEnds) {
  BlockCase block = support::block_cases()[0];
  block.one_hot = true;  // every row looks at itself alone
  for (const double ratio :
       mixing_ratios(support::block_record(block, 6), BlockExtent::kAttention)) {
    EXPECT_NEAR(ratio, 0, 1e-4);  // what softmax leaves to the others
  }
  block.one_hot = false;
  AttentionRecord record = *support::block_record(block, 6);
  record.block->input = Tensor(record.block->input.shape());  // nothing is kept
  record.rule.mask.key_valid = {1, 0, 1, 1, 1, 1};            // and row 1 does not see itself
  const auto hidden = support::with_lse(std::move(record));
  EXPECT_NEAR(mixing_ratios(hidden, BlockExtent::kResidual)[1], 1, 1e-6);
}

TEST(ValueNorm, SaysWhatTheRecordLacks) {
  const auto whole = support::block_record(support::block_cases()[0], 5);
  const auto refuses = [](AttentionRecord record, BlockExtent extent, std::string_view part) {
    return fails_with(ErrorKind::kInvalidArgument, part, [&] {
      value_norm_row(std::make_shared<const AttentionRecord>(std::move(record)), 0, extent);
    });
  };
  AttentionRecord record = *whole;
  record.values = {};
  EXPECT_TRUE(refuses(record, BlockExtent::kNorm, "without values"));
  record = *whole;
  record.block.reset();
  EXPECT_TRUE(refuses(record, BlockExtent::kNorm, "the block around it"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "rows 5 to 6",
                         [&] { value_norm_row(whole, 5, BlockExtent::kNorm); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no head 9",
                         [&] { value_norm_row(whole, 0, BlockExtent::kAttention, 9); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "head 1 alone has no residual",
                         [&] { value_norm_row(whole, 0, BlockExtent::kResidual, 1); }));
}

TEST(ValueNormMethod, TellsHowMuchTheResidualKeeps) {
  const fovea::Run run = support::block_run(support::block_cases()[0], 7, 2);
  const Method method = method_named("value-norm");
  const ExplainRequest request{.run = run, .position = 3};
  const Explanation explanation = explain(method, request);
  EXPECT_EQ(explanation.scores.size(), 7U);
  ASSERT_FALSE(explanation.notes.empty());
  EXPECT_NE(explanation.notes[0].find("% of this row comes from other positions"),
            std::string::npos);
  const ExplainRequest of_head{.run = run, .position = 3, .layer = 0, .head = 1};
  EXPECT_EQ(explain(method, of_head).scores,
            value_norm_row(run.records[0], 3, BlockExtent::kAttention, 1));
  const ExplainRequest beyond{.run = run, .position = 3, .layer = 2};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "layer 2 is asked for but there are 0 to 1",
                         [&] { explain(method, beyond); }));
  fovea::Run bare = run;
  for (auto& record : bare.records) {
    AttentionRecord copy = *record;
    copy.block.reset();
    record = std::make_shared<const AttentionRecord>(copy);
  }
  const ExplainRequest without{.run = bare};
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "raw, rollout", [&] { explain(method, without); }));
}

}  // namespace
}  // namespace fovea
