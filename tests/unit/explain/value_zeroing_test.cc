#include "fovea/explain/value_zeroing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/explain/method.h"
#include "support/errors.h"
#include "unit/explain/block_records.h"

namespace fovea {
namespace {

// A model of two layers whose outputs are known: position i of layer l gives
// (1, sum_j mix(i, j) v_j), v_j = j + 1, so that taking a value away turns it by a known angle.
class TwoLayers final : public Subject {
 public:
  SubjectOutput run(const std::vector<Intervention>& changes,
                    const RecorderOptions& record) override {
    ++runs;
    SubjectOutput output;
    for (int layer = 0; layer < 2; ++layer) {
      const Tensor states = outputs(layer, changes);
      if (layer == 1) {
        output.states[SiteKind::kSelf] = states;
      } else if (record.wanted({SiteKind::kSelf, 1})) {
        auto kept = std::make_shared<AttentionRecord>();
        kept->site = {SiteKind::kSelf, 1};
        kept->block = BlockContext{.input = states};
        output.records.push_back(kept);
      }
    }
    return output;
  }
  bool multi_label() const override { return false; }

  static double mix(int64_t i, int64_t j) { return j > i ? 0 : 1.0 / double(1 + i + j); }
  static double second(int64_t i, int64_t without) {
    double sum = 0;
    for (int64_t j = 0; j < 4; ++j) sum += j == without ? 0 : mix(i, j) * double(j + 1);
    return sum;
  }

  int runs = 0;

 private:
  static Tensor outputs(int layer, const std::vector<Intervention>& changes) {
    int64_t without = -1;
    for (const Intervention& change : changes) {
      const auto* zero = std::get_if<ZeroValue>(&change);
      if (zero != nullptr && zero->site == SiteId{SiteKind::kSelf, layer}) without = zero->position;
    }
    Tensor states(Shape{4, 2});
    for (int64_t i = 0; i < 4; ++i) {
      states.mutable_matrix<float>()(i, 0) = 1;
      states.mutable_matrix<float>()(i, 1) = static_cast<float>(second(i, without));
    }
    return states;
  }
};

constexpr ValueZeroingStack kStack{SiteKind::kSelf, 2, 4};

Matrix expected_turns() {
  Matrix turns(4, 4);
  for (int64_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < 4; ++j) {
      const double a = TwoLayers::second(i, -1), b = TwoLayers::second(i, j);
      turns(i, j) = 1 - std::cos(std::atan(a) - std::atan(b));
      sum += turns(i, j);
    }
    for (int64_t j = 0; j < 4; ++j) turns(i, j) /= sum;
  }
  return turns;
}

TEST(ValueZeroing, IsTheAngleByWhichEachOutputTurns) {
  TwoLayers subject;
  for (const int64_t layer : {0, 1}) {
    const Matrix turns = value_zeroing_layer(subject, kStack, layer);
    // Outputs are f32.
    EXPECT_LT(max_difference(turns, expected_turns()), 1e-6);
    EXPECT_EQ(turns(1, 3), 0);  // which nothing reaches
  }
  EXPECT_EQ(subject.runs, 2 * (4 + 1));
}

TEST(ValueZeroing, OverLayersIsTheProduct) {
  TwoLayers subject;
  const Matrix product = multiply(expected_turns(), expected_turns());
  for (const int64_t target : {0, 3}) {
    const std::vector<double> row = value_zeroing(subject, kStack, target);
    for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(row[j], product.row(target)[j], 1e-6);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
  }
}

TEST(ValueZeroing, RefusesWhatItCannotDo) {
  TwoLayers subject;
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "layer 2 is asked for but there are 0 to 1",
                         [&] { value_zeroing_layer(subject, kStack, 2); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no position 4",
                         [&] { value_zeroing(subject, kStack, 4); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "use value-norm or rollout", [&] {
    value_zeroing(subject, {SiteKind::kSelf, 2, 1025}, 0);
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "does not give the output of layer 1", [&] {
    value_zeroing(subject, {SiteKind::kTextSelf, 2, 4}, 0);
  }));
  EXPECT_EQ(subject.runs, 1);
}

TEST(ValueZeroingMethod, LooksAtOneLayerOrAll) {
  TwoLayers subject;
  const fovea::Run run = support::block_run(support::block_cases()[0], 4, 2);
  const Method method = method_named("value-zeroing");
  const ExplainRequest all{.run = run, .position = 3, .subject = &subject};
  EXPECT_EQ(explain(method, all).scores, value_zeroing(subject, kStack, 3));
  const ExplainRequest one{.run = run, .position = 3, .layer = 0, .subject = &subject};
  const Matrix turns = value_zeroing_layer(subject, kStack, 0);
  EXPECT_TRUE(std::ranges::equal(explain(method, one).scores, turns.row(3)));
  const ExplainRequest nothing{.run = run};
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "runs the model again",
                         [&] { explain(method, nothing); }));
}

}  // namespace
}  // namespace fovea
