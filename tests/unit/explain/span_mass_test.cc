#include "fovea/explain/span_mass.h"

#include <gtest/gtest.h>

#include "fovea/explain/method.h"
#include "support/errors.h"
#include "support/runs.h"
#include "unit/explain/map_cases.h"

namespace fovea {
namespace {

using support::AttentionCase;

// Weights are off by 1e-6 of themselves (docs/numerics.md); a span sums to 1 at most.
constexpr double kSpanTolerance = 2e-6;

constexpr PositionSpan kSpans[] = {{0, 1}, {3, 9}, {36, 37}, {0, 37}, {17, 23}};

TEST(SpanMass, EqualsTheDenseRowUnderEveryMask) {
  for (const AttentionCase& c : support::masked_cases()) {
    SCOPED_TRACE(c.name);
    const std::vector layers{support::map_record(c, {SiteKind::kSelf, 0}),
                             support::map_record(c, {SiteKind::kSelf, 1})};
    const auto dense = support::dense_attention(c).weights;
    for (int64_t row = 0; row < c.shape.rows; ++row) {
      for (const PositionSpan span : kSpans) {
        const auto mass = span_mass(layers, row, span);
        ASSERT_EQ(mass.size(), 8U);
        double seen = 0, in_span = 0;
        for (int64_t j = 0; j < c.shape.cols; ++j) {
          const bool inside = j >= span.begin && j < span.end;
          if (c.rule.mask.allows(row, j)) seen += 1;
          if (c.rule.mask.allows(row, j) && inside) in_span += 1;
        }
        ASSERT_NEAR(even_share(*layers[0], row, span), seen > 0 ? in_span / seen : 0, 1e-12);
        for (size_t head = 0; head < 4; ++head) {
          double expected = 0;
          for (int64_t j = span.begin; j < span.end; ++j) {
            expected += dense[head][size_t(row * c.shape.cols + j)];
          }
          ASSERT_NEAR(mass[head], expected, kSpanTolerance) << "row " << row << ", head " << head;
          ASSERT_EQ(mass[head], mass[4 + head]);
        }
      }
    }
  }
}

TEST(SpanMass, RefusesRowsAndSpansThatAreNotThere) {
  const std::vector layers{support::map_record(support::masked_cases()[0])};
  const auto refuses = [&](int64_t row, PositionSpan span) {
    return fails_with(ErrorKind::kInvalidArgument, "37", [&] { span_mass(layers, row, span); });
  };
  EXPECT_TRUE(refuses(37, {0, 1}));
  EXPECT_TRUE(refuses(-1, {0, 1}));
  EXPECT_TRUE(refuses(0, {-1, 1}));
  EXPECT_TRUE(refuses(0, {5, 5}));
  EXPECT_TRUE(refuses(0, {5, 38}));
}

// In layer 1, head 2 the last row looks at 10 to 13 and nowhere else.
std::vector<std::shared_ptr<const AttentionRecord>> needle_layers() {
  AttentionCase c = support::masked_cases()[1];
  c.rule.scale = 0;
  std::vector layers{support::map_record(c, {SiteKind::kSelf, 0})};
  c.rule.scale = 1;
  c.queries = Tensor(Shape{4, 37, 8});
  c.keys = Tensor(Shape{2, 37, 8});
  c.queries.mutable_matrix<float>(2)(36, 5) = 50;
  for (int64_t j = 10; j < 14; ++j) c.keys.mutable_matrix<float>(1)(j, 5) = 1;
  layers.push_back(support::map_record(c, {SiteKind::kSelf, 1}));
  return layers;
}

TEST(SpanMassMethod, FindsTheHeadThatLooksAtTheNeedle) {
  const fovea::Run run = support::map_run(needle_layers());
  const Method method = method_named("span-mass");
  const Explanation found =
      explain(method, {.run = run, .position = 36, .span = PositionSpan{10, 14}});
  EXPECT_EQ(found.axis.name, "heads");
  EXPECT_EQ(found.axis.grid_rows, 2);
  EXPECT_EQ(found.axis.grid_cols, 4);
  ASSERT_EQ(found.scores.size(), 8U);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(found.scores[i], i == 6 ? 1 : 4.0 / 37, kSpanTolerance) << i;
    EXPECT_EQ(found.axis.positions[i].text, fmt::format("layer {} head {}", i / 4, i % 4));
  }
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_TRUE(found.notes[0].starts_with("most in layer 1 head 2 (100.0 %), ")) << found.notes[0];
  // (7 * 4 / 37 + 1) / 8 = 22.0 %, an even spread is 4 / 37.
  EXPECT_EQ(found.notes[1], "mean of all heads 22.0 %, 2 times the 10.8 % of an even spread");

  const Explanation layer =
      explain(method, {.run = run, .position = 36, .layer = 0, .span = PositionSpan{10, 14}});
  EXPECT_EQ(layer.axis.grid_rows, 1);
  EXPECT_EQ(layer.scores.size(), 4U);
}

TEST(SpanMassMethod, SaysThatTheRowMayNotSeeTheSpan) {
  const fovea::Run run = support::map_run(needle_layers());
  const Explanation blind =
      explain(method_named("span-mass"), {.run = run, .position = 4, .span = PositionSpan{10, 14}});
  ASSERT_EQ(blind.notes.size(), 1U);
  EXPECT_EQ(blind.notes[0], "position 4 may not see positions 10 to 13");
}

TEST(SpanMassMethod, NamesTheSpanByItsText) {
  const fovea::Run run = support::text_run({"[CLS]", "the", "mag|ic", "number", "is"});
  const auto measures = [&](PositionSpan span) {
    return explain(method_named("span-mass"), {.run = run, .span = span}).measures;
  };
  EXPECT_EQ(measures({2, 5}), "share of the row's attention on \"magic number\"");
  EXPECT_EQ(measures({0, 1}), "share of the row's attention on position 0");
  EXPECT_EQ(measures({0, 6}), "share of the row's attention on \"the magic number is\"");
}

TEST(SpanMassMethod, AsksForASpan) {
  const fovea::Run run = support::map_run(needle_layers());
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, Field{"span"}, "span-mass asks about a stretch",
                 [&] { explain(method_named("span-mass"), {.run = run, .position = 36}); }));
}

}  // namespace
}  // namespace fovea
