#include "fovea/figure/row_facts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fovea {
namespace {

TEST(RowFacts, WhatIsLeftOfARowGoesToTheSink) {
  AttentionRecord record;
  const std::vector<float> weights{0.25F, 0.5F, std::nanf("")};
  EXPECT_FALSE(sink_share(record, weights));
  record.rule.sink_logit = {0.1F};
  EXPECT_NEAR(sink_share(record, weights).value_or(-1), 0.25, 1e-7);
  EXPECT_EQ(sink_note(sink_share(record, weights)), " · 25 % goes to the sink");
  EXPECT_EQ(sink_note({}), "");
}

TEST(RowFacts, ExpertsAreNamedWithTheirShares) {
  fovea::Run run;
  run.experts.push_back({.layer = 1,
                         .experts = 8,
                         .chosen = Tensor::from<int64_t>({2, 2}, {7, 0, 3, 5}),
                         .shares = Tensor::from<float>({2, 2}, {0.5F, 0.5F, 0.61F, 0.39F})});
  EXPECT_EQ(expert_note(run, {SiteKind::kSelf, 1}, 1), " · then expert 3 (61 %) and 5 (39 %) of 8");
  EXPECT_EQ(expert_note(run, {SiteKind::kSelf, 0}, 1), "");
  EXPECT_EQ(expert_note(run, {SiteKind::kSelf, 1}, 2), "");
}

}  // namespace
}  // namespace fovea
