// Methods that need nothing but maps give the same for weights that are stored.
#include <gtest/gtest.h>

#include "fovea/explain/column_mass.h"
#include "fovea/explain/method.h"
#include "fovea/explain/model_steps.h"
#include "fovea/explain/pictures/patch_keys.h"
#include "fovea/explain/rollout.h"
#include "fovea/explain/sinks.h"
#include "fovea/explain/span_mass.h"
#include "support/errors.h"
#include "support/runs.h"
#include "support/stored_record.h"

namespace fovea {
namespace {

Run stored_run_of(const Run& run) {
  Run stored = run;
  for (auto& record : stored.records) record = support::stored_record_of(record);
  validate(stored);
  return stored;
}

void expect_same(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
}

TEST(StoredMaps, ExplainLikeComputedOnes) {
  for (const bool causal : {false, true}) {
    const fovea::Run run = support::text_run(
        {"[CLS]", "the", "cat", "chas|ing", "it", "[SEP]", "and", "on"}, 3, causal, 3);
    const fovea::Run stored = stored_run_of(run);
    const RolloutOptions largest{.fusion = HeadFusion::kMax, .discard = 0.3};
    for (const int64_t row : {0, 3, 7}) {
      expect_same(rollout(stored.records, row), rollout(run.records, row));
      expect_same(rollout(stored.records, row, largest), rollout(run.records, row, largest));
      expect_same(span_mass(stored.records, row, {1, 3}), span_mass(run.records, row, {1, 3}));
    }
    expect_same(column_mass(stored.records[1], {}, ColumnTotal::kMean),
                column_mass(run.records[1], {}, ColumnTotal::kMean));
    EXPECT_EQ(find_sinks(stored.records, 0.3).sink_in, find_sinks(run.records, 0.3).sink_in);
  }
}

TEST(StoredMaps, RolloutKnowsThatRowsMayNotSumToOne) {
  const Tensor weights = support::random_weights({2, 6, 6}, 1, /*sum=*/0.5);
  const LayerRecords layers{support::stored_record(weights)};
  for (const int64_t row : {0, 5}) {
    std::vector<double> wanted;
    for (int64_t col = 0; col < 6; ++col) {
      const double first = weights.matrix<float>(0)(row, col);
      const double second = weights.matrix<float>(1)(row, col);
      // Half the mean of the heads and half of itself, which together are 0.75.
      wanted.push_back((0.25 * (first + second) + (row == col ? 0.5 : 0)) / 0.75);
    }
    expect_same(rollout(layers, row), wanted);
  }
}

TEST(StoredMaps, SayWhatTheyDoNotHold) {
  const fovea::Run stored = stored_run_of(support::text_run({"the", "cat"}, 2));
  const auto& record = stored.records.front();
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "without the queries and keys that its steps",
                         [&] { model_steps(record, 0, 0, {}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "that patches are compared by",
                         [&] { patch_keys(*record, {}); }));
  for (const char* name : {"value-norm", "alti", "relevancy", "ablation"}) {
    const ExplainRequest request{.run = stored, .kind = SiteKind::kSelf, .parameters = {}};
    EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "use column-mass, flow, raw, rollout",
                           [&] { check_needs(method_named(name), request); }));
  }
}

}  // namespace
}  // namespace fovea
