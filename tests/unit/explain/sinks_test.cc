#include "fovea/explain/sinks.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/explain/method.h"
#include "support/errors.h"
#include "unit/explain/map_cases.h"

namespace fovea {
namespace {

using support::AttentionCase;
using Layers = std::vector<std::shared_ptr<const AttentionRecord>>;

// Sums of weights that are off by 1e-6 of themselves (docs/numerics.md).
constexpr double kSinksTolerance = 5e-6;

TEST(Sinks, EqualTheDenseMeansUnderEveryMask) {
  for (const AttentionCase& c : support::masked_cases()) {
    SCOPED_TRACE(c.name);
    const auto dense = support::dense_attention(c).weights;
    // A threshold at which some heads and not others have sinks.
    for (const double threshold : {0.02, 0.05, 0.1}) {
      const Sinks sinks = find_sinks(Layers{support::map_record(c)}, threshold);
      EXPECT_EQ(sinks.heads, 4);
      std::vector<double> mass(size_t(c.shape.cols), 0.0);
      for (int64_t j = 0; j < c.shape.cols; ++j) {
        int64_t expected = 0;
        for (const auto& weights : dense) {
          double sum = 0;
          int64_t looks = 0, rows = 0;
          for (int64_t i = 0; i < c.shape.rows; ++i) {
            if (!support::is_input(c, size_t(i))) continue;
            ++rows;
            sum += weights[size_t(i * c.shape.cols + j)];
            looks += c.rule.mask.allows(i, j) ? 1 : 0;
          }
          mass[size_t(j)] += sum;
          const bool judged = 2 * looks >= rows || looks >= 8;
          if (judged && looks > 0 && sum / double(looks) > threshold) ++expected;
        }
        ASSERT_EQ(sinks.sink_in[size_t(j)], expected) << "position " << j;
        ASSERT_EQ(sinks.share(j), double(expected) / 4);
      }
      const double all = std::accumulate(mass.begin(), mass.end(), 0.0);
      for (size_t j = 0; j < mass.size(); ++j) {
        ASSERT_NEAR(sinks.mass_share[j], mass[j] / all, kSinksTolerance);
      }
    }
  }
}

// Every row of these heads puts nearly all weight on the position, where it may see it.
AttentionCase with_sink(AttentionCase c, int64_t position, std::vector<int64_t> heads) {
  c.queries = Tensor(c.queries.shape());
  c.keys = Tensor(c.keys.shape());
  for (const int64_t head : heads) {
    for (int64_t i = 0; i < c.shape.rows; ++i) c.queries.mutable_matrix<float>(head)(i, 0) = 20;
  }
  for (int64_t g = 0; g < c.shape.kv_heads; ++g) c.keys.mutable_matrix<float>(g)(position, 0) = 2;
  return c;
}

TEST(Sinks, AreFoundInTheHeadsThatHaveThem) {
  const AttentionCase causal = support::masked_cases()[1];
  const Sinks sinks = find_sinks(Layers{support::map_record(with_sink(causal, 0, {0, 2, 3})),
                                        support::map_record(with_sink(causal, 5, {1}))},
                                 0.3);
  EXPECT_EQ(sinks.heads, 8);
  EXPECT_EQ(sinks.sink_in[0], 3);
  EXPECT_EQ(sinks.sink_in[5], 1);
  EXPECT_EQ(sinks.positions(), (std::vector<int64_t>{0, 5}));
  EXPECT_DOUBLE_EQ(sinks.share(0), 3.0 / 8);
  EXPECT_GT(sinks.mass_share[0], 3.0 / 8);
}

// The last rows of a causal map look at themselves alone, or nearly.
TEST(Sinks, AreNotJudgedByFewRows) {
  AttentionCase c = support::masked_cases()[1];
  const Sinks late = find_sinks(Layers{support::map_record(with_sink(c, 30, {0}))}, 0.3);
  EXPECT_EQ(late.sink_in[30], 0);  // 7 rows see it
  const Sinks earlier = find_sinks(Layers{support::map_record(with_sink(c, 29, {0}))}, 0.3);
  EXPECT_EQ(earlier.sink_in[29], 1);
  // In a text of 5 tokens 3 rows are enough.
  AttentionCase tiny = support::plain_case(5, 8, true, 1);
  EXPECT_EQ(find_sinks(Layers{support::map_record(with_sink(tiny, 2, {0}))}, 0.3).sink_in[2], 1);
  EXPECT_EQ(find_sinks(Layers{support::map_record(with_sink(tiny, 3, {0}))}, 0.3).sink_in[3], 0);
}

TEST(Sinks, RefuseWhatDoesNotFit) {
  const auto record = support::map_record(support::masked_cases()[0]);
  const auto other = support::map_record(support::plain_case(5, 8, true, 1));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "37 columns", [&] {
    find_sinks(Layers{other, record}, 0.3);
  }));
  EXPECT_TRUE(fails_cleanly([&] { find_sinks(Layers{record}, 1.5); }));
  EXPECT_TRUE(fails_cleanly([] { find_sinks({}, 0.3); }));
}

TEST(TimesMedian, ComparesOneLengthWithTheMiddleOfAll) {
  EXPECT_DOUBLE_EQ(times_median(std::vector<double>{30, 2, 3, 4}, 0), 30 / 3.5);
  EXPECT_DOUBLE_EQ(times_median(std::vector<double>{1, 2, 9}, 2), 4.5);
  EXPECT_EQ(times_median(std::vector<double>{0, 0, 9}, 2), 0);
}

// Gives states of which position `longest` is `times` as long as the others in layer 1.
class LongStates final : public Subject {
 public:
  LongStates(int64_t positions, int64_t longest, float times)
      : positions_(positions), longest_(longest), times_(times) {}

  SubjectOutput run(const std::vector<Intervention>& changes,
                    const RecorderOptions& record) override {
    EXPECT_TRUE(changes.empty());
    EXPECT_TRUE(record.block);
    for (int layer = 0; layer < 2; ++layer) {
      AttentionRecord kept;
      kept.site = {SiteKind::kSelf, layer};
      kept.block = BlockContext{.input = states(layer == 1 ? times_ : 1)};
      if (record.wanted(kept.site)) record.give_to(0, kept);
    }
    EXPECT_FALSE(record.wanted({SiteKind::kCross, 0}));
    return {};
  }
  bool multi_label() const override { return false; }

 private:
  Tensor states(float times) const {
    Tensor rows(Shape{positions_, 4});
    for (int64_t i = 0; i < positions_; ++i) {
      rows.mutable_matrix<float>()(i, i % 4) = i == longest_ ? 2 * times : 2;
    }
    return rows;
  }

  int64_t positions_, longest_;
  float times_;
};

TEST(SinksMethod, NamesSinksTheirMassAndTheLengthOfTheirStates) {
  const AttentionCase c = with_sink(support::masked_cases()[1], 0, {0, 1, 2});
  const fovea::Run run = support::map_run({support::map_record(c)});
  LongStates subject(37, 0, 12.5F);
  const Explanation found = explain(method_named("sinks"), {.run = run, .subject = &subject});
  ASSERT_EQ(found.scores.size(), 37U);
  EXPECT_EQ(found.scores[0], 0.75);
  EXPECT_EQ(std::accumulate(found.scores.begin(), found.scores.end(), 0.0), 0.75);
  ASSERT_EQ(found.notes.size(), 2U);
  // 3 heads give it all, the fourth looks evenly: (3 + (1 + 1/2 + ... + 1/37) / 37) / 4.
  EXPECT_EQ(found.notes[0], "sink: 0 (0) in 3 of 4 heads; 77.8 % of all attention");
  EXPECT_EQ(found.notes[1],
            "the state of 0 (0) is 12.5 times as long as the median where it enters layer 1");

  const Explanation alone = explain(method_named("sinks"), {.run = run});
  EXPECT_EQ(alone.notes.size(), 1U);  // no model, no states
}

TEST(SinksMethod, SaysThatThereAreNone) {
  AttentionCase c = support::masked_cases()[0];
  c.rule.scale = 0;
  const fovea::Run run = support::map_run({support::map_record(c)});
  const Explanation found = explain(method_named("sinks"), {.run = run});
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0],
            "no sinks: no position gets more than 0.3 of the attention in any of 4 heads");
  const Explanation all =
      explain(method_named("sinks"), {.run = run, .parameters = {{"threshold", "0.02"}}});
  EXPECT_TRUE(all.notes[0].starts_with("sinks: 0 (0) in 4 of 4 heads, ")) << all.notes[0];
  EXPECT_TRUE(all.notes[0].ends_with(" and 32 more; 100.0 % of all attention")) << all.notes[0];
}

TEST(SinksMethod, CountsArtifactPatchesOfPictures) {
  AttentionCase c = support::masked_cases()[0];
  c.rule.scale = 0;
  fovea::Run run = support::map_run({support::map_record(c)});
  run.axes[0].grid_rows = 4;
  run.axes[0].grid_cols = 9;
  LongStates subject(37, 7, 9);
  const Explanation found = explain(method_named("sinks"), {.run = run, .subject = &subject});
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_EQ(found.notes[1],
            "artifacts: 1 of 36 patches with outlying norms, above 2.0, where they enter layer 1; "
            "2.7 % of all attention");
  LongStates even(37, 7, 1);
  const Explanation none = explain(method_named("sinks"), {.run = run, .subject = &even});
  EXPECT_EQ(none.notes[1],
            "no artifact patches: none has an outlying norm where it enters layer 1");
}

}  // namespace
}  // namespace fovea
