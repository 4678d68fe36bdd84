#include "fovea/explain/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/explain/fused_layer.h"
#include "support/errors.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

using support::answer;
using support::AttentionCase;
using support::dense_attention;

constexpr HeadFusion kFusions[] = {HeadFusion::kMean, HeadFusion::kMax, HeadFusion::kMin};

// Weights are off by up to 1e-6 of themselves (docs/numerics.md), each of 4 layers adds that.
constexpr double kRolloutTolerance = 1e-6;

// The 4 layers x 3 heads x 17 positions of the fixture.
LayerRecords fixture_layers() {
  const Tensor q = support::picture_answers().tensor("rollout.q");
  const Tensor k = support::picture_answers().tensor("rollout.k");
  const int64_t part = q.elements() / q.size(0);
  LayerRecords layers;
  for (int64_t layer = 0; layer < q.size(0); ++layer) {
    const auto part_of = [&](const Tensor& all) {
      return Tensor::from(Shape{q.size(1), q.size(2), q.size(3)},
                          all.values<float>().subspan(size_t(layer * part), size_t(part)));
    };
    AttentionCase c;
    c.shape = {q.size(1), q.size(1), q.size(2), q.size(2), q.size(3), q.size(3)};
    c.rule.scale = static_cast<float>(1 / std::sqrt(double(q.size(3))));
    c.queries = part_of(q);
    c.keys = part_of(k);
    c.values = part_of(k);
    layers.push_back(std::make_shared<const AttentionRecord>(
        support::record_of(c, {SiteKind::kVisionSelf, int(layer)})));
  }
  return layers;
}

void expect_rows(const std::string& name,
                 const std::function<std::vector<double>(int64_t target)>& compute) {
  const auto expected = answer<double>(name);
  for (int64_t target = 0; target < 17; ++target) {
    const std::vector<double> row = compute(target);
    ASSERT_EQ(row.size(), 17U);
    for (size_t j = 0; j < row.size(); ++j) {
      ASSERT_NEAR(row[j], expected[size_t(target) * 17 + j], kRolloutTolerance)
          << name << " row " << target << ", column " << j;
    }
  }
}

TEST(Rollout, EqualsTheDenseProductForEveryFusionAndDiscard) {
  const LayerRecords layers = fixture_layers();
  for (const HeadFusion fusion : kFusions) {
    for (const int discard : {0, 50, 90}) {
      expect_rows(fmt::format("rollout.exact.{}.{}", kHeadFusions.name_of(fusion), discard),
                  [&](int64_t t) {
                    return rollout(layers, t, {.fusion = fusion, .discard = discard / 100.0});
                  });
    }
  }
}

TEST(Rollout, TakesAnotherResidualAndLeavesOutTheFirstLayers) {
  const LayerRecords layers = fixture_layers();
  expect_rows("rollout.exact.residual30",
              [&](int64_t t) { return rollout(layers, t, {.residual = 0.3}); });
  expect_rows("rollout.exact.start1",
              [&](int64_t t) { return rollout(layers, t, {.start_layer = 1}); });
}

TEST(Rollout, OfVitExplainIsTheSameMistakeForMistake) {
  const LayerRecords layers = fixture_layers();
  for (const HeadFusion fusion : kFusions) {
    for (const int discard : {0, 50, 90}) {
      expect_rows(fmt::format("rollout.compat.{}.{}", kHeadFusions.name_of(fusion), discard),
                  [&](int64_t t) {
                    return vit_explain_rollout(layers, t,
                                               {.fusion = fusion, .discard = discard / 100.0});
                  });
    }
  }
}

TEST(Rollout, OfVitExplainDiffersFromTheExactOneOnceSomethingIsDiscarded) {
  const LayerRecords layers = fixture_layers();
  const auto exact = rollout(layers, 0, {.fusion = HeadFusion::kMax, .discard = 0.9});
  const auto compat = vit_explain_rollout(layers, 0);
  double largest = 0;
  for (size_t j = 0; j < exact.size(); ++j) {
    largest = std::max(largest, std::abs(exact[j] - compat[j]));
  }
  EXPECT_GT(largest, 1e-3);
}

// Dense, in double, for any rule: rows that sum to less than 1 are divided by their sum.
std::vector<double> dense_rollout(const std::vector<AttentionCase>& cases, int64_t target,
                                  double residual) {
  const auto n = size_t(cases.front().shape.rows);
  std::vector<double> r(n, 0.0);
  r[size_t(target)] = 1;
  for (size_t layer = cases.size(); layer-- > 0;) {
    const auto dense = dense_attention(cases[layer]);
    std::vector<double> next(n, 0.0);
    for (size_t i = 0; i < n; ++i) {
      std::vector<double> row(n, 0.0);
      for (const auto& head : dense.weights) {
        for (size_t j = 0; j < n; ++j) {
          row[j] += (1 - residual) * head[i * n + j] / double(dense.weights.size());
        }
      }
      row[i] += residual;
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (size_t j = 0; j < n; ++j) next[j] += r[i] * row[j] / sum;
    }
    r = next;
  }
  return r;
}

TEST(Rollout, NormalisesRowsUnderMasksAndSinks) {
  const PictureAxis axis{{5, 6}, 1};
  for (const int kind : {0, 1, 2, 3}) {
    std::vector<AttentionCase> cases;
    LayerRecords layers;
    for (uint32_t layer = 0; layer < 3; ++layer) {
      AttentionCase c = support::picture_case(40 + layer, axis, 2);
      if (kind == 1) c.rule.mask = Mask::causal();
      if (kind == 2) c.rule.sink_logit = {1.5F, 3};
      // Position 4 sees nobody: its group is empty.
      if (kind == 3) {
        c.rule.mask.query_group.assign(31, 0);
        c.rule.mask.key_group.assign(31, 0);
        c.rule.mask.query_group[4] = 1;
      }
      layers.push_back(support::shared_record_of(c));
      cases.push_back(c);
    }
    for (const int64_t target : {0, 4, 30}) {
      for (const HeadFusion fusion : {HeadFusion::kMean, HeadFusion::kMax}) {
        const auto row = rollout(layers, target, {.residual = 0.4, .fusion = fusion});
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, kRolloutTolerance);
        if (fusion == HeadFusion::kMax) continue;
        const auto expected = dense_rollout(cases, target, 0.4);
        for (size_t j = 0; j < row.size(); ++j) {
          ASSERT_NEAR(row[j], expected[j], kRolloutTolerance)
              << "rule " << kind << ", column " << j;
        }
      }
    }
  }
}

TEST(Rollout, WithoutResidualPassesOnARowThatSeesNothing) {
  AttentionCase c = support::plain_case(6, 8, false, 3);
  c.rule.mask.query_group = {0, 0, 1, 0, 0, 0};
  c.rule.mask.key_group.assign(6, 0);
  const LayerRecords layers(2, support::shared_record_of(c));
  for (const HeadFusion fusion : kFusions) {
    const auto blind = rollout(layers, 2, {.residual = 0, .fusion = fusion});
    EXPECT_EQ(blind[2], 1);
    const auto other = rollout(layers, 0, {.residual = 0, .fusion = fusion});
    EXPECT_NEAR(std::accumulate(other.begin(), other.end(), 0.0), 1, kRolloutTolerance);
  }
}

TEST(Rollout, OfNoLayersLeftIsThePositionItself) {
  const LayerRecords layers = fixture_layers();
  const auto row = rollout(layers, 3, {.start_layer = 4});
  EXPECT_EQ(row[3], 1);
  EXPECT_EQ(std::accumulate(row.begin(), row.end(), 0.0), 1);
}

TEST(Rollout, RefusesWhatDoesNotFit) {
  LayerRecords layers = fixture_layers();
  const auto refuses = [&](int64_t target, const RolloutOptions& options) {
    return fails_with(ErrorKind::kInvalidArgument, "", [&] { rollout(layers, target, options); });
  };
  EXPECT_TRUE(refuses(-1, {}));
  EXPECT_TRUE(refuses(17, {}));
  EXPECT_TRUE(refuses(0, {.residual = 1.5}));
  EXPECT_TRUE(refuses(0, {.start_layer = 5}));
  EXPECT_TRUE(refuses(0, {.discard = 1}));
  EXPECT_TRUE(fails_cleanly([&] { vit_explain_rollout(layers, 17); }));
  layers.push_back(support::shared_record_of(support::plain_case(5, 8, false, 1)));
  EXPECT_TRUE(refuses(0, {}));
  EXPECT_TRUE(fails_cleanly([] { rollout({}, 0); }));
}

TEST(Rollout, ReadsTheLayersOfARunInTheirOrder) {
  fovea::Run run;
  run.model = "tiny";
  run.records = fixture_layers();
  std::swap(run.records[0], run.records[3]);
  const LayerRecords layers = layers_of(run, SiteKind::kVisionSelf);
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[3]->site.layer, 3);
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "self", [&] { layers_of(run, SiteKind::kSelf); }));
}

TEST(FusedLayer, KnowsItsSmallestEntriesExactlyEvenIfManyAreEqual) {
  AttentionCase c = support::plain_case(40, 8, /*causal=*/true, 5);  // 780 zeros above the diagonal
  const FusedLayer layer(support::shared_record_of(c), HeadFusion::kMean);
  std::vector<float> all;
  layer.for_each_row(
      [&](int64_t, std::span<float> row) { all.insert(all.end(), row.begin(), row.end()); });
  std::sort(all.begin(), all.end());
  for (const int64_t count : {1, 780, 781, 1000, 1599, 1600}) {
    const SmallestEntries found = smallest_entries(layer, count);
    EXPECT_EQ(found.value, all[size_t(count - 1)]) << count;
    const auto below = std::lower_bound(all.begin(), all.end(), found.value) - all.begin();
    EXPECT_EQ(below + found.equal, count);
  }
}

}  // namespace
}  // namespace fovea
