#include "fovea/explain/faithfulness/faithfulness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/watch.h"
#include "fovea/explain/faithfulness/input_strength.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

constexpr double kF32 = 1e-6;  // logits are f32

// y = bias + w . x, positions taken away being 0, and a class that always has 0. The first position
// is special.
class Linear final : public Subject {
 public:
  Linear(std::vector<double> weights, double bias) : weights_(std::move(weights)), bias_(bias) {}

  SubjectOutput run(const std::vector<Intervention>& changes, const RecorderOptions&) override {
    ++runs;
    std::vector<double> left = weights_;
    for (const Intervention& change : changes) {
      const auto* blank = std::get_if<BlankPosition>(&change);
      const auto* hide = std::get_if<HidePosition>(&change);
      const int64_t position = blank != nullptr ? blank->position : hide->position;
      EXPECT_EQ(blank != nullptr ? blank->axis : hide->axis, "tokens");
      EXPECT_NE(position, 0) << "special tokens are never taken away";
      left[static_cast<size_t>(position)] = 0;
    }
    const double y = std::accumulate(left.begin(), left.end(), bias_);
    SubjectOutput output;
    output.logits = Tensor::from<float>({2}, std::vector<float>{static_cast<float>(y), 0});
    return output;
  }
  SubjectGradient gradient(const GradientRequest& request) override {
    if (!has_gradient) return Subject::gradient(request);
    const auto count = static_cast<int64_t>(weights_.size());
    const std::vector<float> w(weights_.begin(), weights_.end());
    SubjectGradient result;
    result.inputs.push_back(
        {.name = "inputs_embeds",
         .axis = "tokens",
         .values = Tensor::from<float>({count, 1}, std::vector<float>(w.size(), 1)),
         .gradient = Tensor::from<float>({count, 1}, w)});
    return result;
  }
  bool multi_label() const override { return false; }

  int64_t runs = 0;
  bool has_gradient = true;

 private:
  std::vector<double> weights_;
  double bias_;
};

Axis axis_of(size_t count) {
  Axis axis = support::text_axis(std::vector<std::string>(count - 1, "word"));
  axis.positions.insert(axis.positions.begin(), {.text = "[CLS]", .special = true});
  return axis;
}

const Target kFirstClass = ClassTarget{0};
const WatchedAnswer kLogit{.target = kFirstClass, .measure = TargetMeasure::kLogit};
const WatchedAnswer kProbability{.target = kFirstClass};

// A line that falls from the first position on, in no order.
std::vector<double> some_weights(size_t count) {
  std::vector<double> weights(count);
  for (size_t i = 0; i < count; ++i) weights[i] = static_cast<double>((i * 7) % count) / 4;
  weights[0] = 0;
  return weights;
}

double value(const FaithfulnessCard& card, GradeKind kind) {
  return card.lines[static_cast<size_t>(kind)].value;
}
Verdict verdict(const FaithfulnessCard& card, GradeKind kind) {
  return card.lines[static_cast<size_t>(kind)].verdict;
}

TEST(RemovalCurve, OfAConstantIsTheConstant) {
  Linear model(std::vector<double>(8, 0.0), 0.75);
  RemovalRuns runs(model, kLogit, axis_of(8), Removal::kBlank);
  const std::vector<size_t> order = order_of(std::vector<double>{1, 2, 3, 4, 5, 6, 7});
  for (const int64_t steps : {1, 3, 7, 20}) {
    EXPECT_DOUBLE_EQ(area_under(deletion_curve(runs, order, steps)), 0.75);
    EXPECT_DOUBLE_EQ(area_under(insertion_curve(runs, order, steps)), 0.75);
  }
  EXPECT_EQ(comprehensiveness(runs, order), 0);
  EXPECT_EQ(sufficiency(runs, order), 0);
  EXPECT_EQ(runs.runs(), model.runs) << "no set of positions is run twice";
}

TEST(RemovalCurve, OfALineHasItsClosedForm) {
  // 40 positions: 20 steps of two, thresholds of 1, 2, 4, 8 and 20 positions (1 % is at least one).
  const std::vector<double> weights = some_weights(41);
  Linear model(weights, 0.5);
  RemovalRuns runs(model, kLogit, axis_of(41), Removal::kHide);
  std::vector<double> sorted(weights.begin() + 1, weights.end());
  const std::vector<size_t> order = order_of(sorted);
  std::ranges::sort(sorted, std::greater{});
  const auto first = [&](size_t count) {
    return std::accumulate(sorted.begin(), sorted.begin() + static_cast<int64_t>(count), 0.0);
  };
  const double all = first(40);
  double deletion = 0, insertion = 0;
  for (size_t i = 0; i <= 20; ++i) {
    const double end = i == 0 || i == 20 ? 0.5 : 1;
    deletion += end * (0.5 + all - first(2 * i)) / 20;
    insertion += end * (0.5 + first(2 * i)) / 20;
  }
  EXPECT_NEAR(area_under(deletion_curve(runs, order, 20)), deletion, kF32 * all);
  EXPECT_NEAR(area_under(insertion_curve(runs, order, 20)), insertion, kF32 * all);
  double lost = 0, lost_others = 0;
  for (const size_t count : {1, 2, 4, 8, 20}) {
    lost += first(count) / 5;
    lost_others += (all - first(count)) / 5;
  }
  EXPECT_NEAR(comprehensiveness(runs, order), lost, kF32 * all);
  EXPECT_NEAR(sufficiency(runs, order), lost_others, kF32 * all);
}

TEST(RemovalCurve, HasAboutAsManyPointsAsStepsAndNoneTwice) {
  EXPECT_EQ(curve_points(3, 20), (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(curve_points(7, 3), (std::vector<size_t>{0, 2, 5, 7}));
  const std::vector<size_t> points = curve_points(784, 20);
  EXPECT_EQ(points.size(), 21U);
  EXPECT_EQ(points[1], 39U);
  EXPECT_EQ(points.back(), 784U);
}

TEST(RemovalCurve, TakesTiesAsTheyStand) {
  EXPECT_EQ(order_of(std::vector<double>{1, 3, 1, 3}), (std::vector<size_t>{1, 3, 0, 2}));
}

TEST(Infidelity, IsZeroForWhatIsLostAndOneForNothing) {
  const std::vector<double> lost{0.5, -1, 2}, twice{1, -2, 4}, turned{-0.5, 1, -2}, none{0, 0, 0};
  EXPECT_EQ(infidelity(lost, lost), 0);
  EXPECT_EQ(infidelity(twice, lost), 0) << "any scale will do";
  EXPECT_EQ(infidelity(turned, lost), 1) << "but not the other sign";
  EXPECT_EQ(infidelity(none, lost), 1);
  EXPECT_TRUE(std::isnan(infidelity(lost, none)));
  // Orthogonal but for one part: 1 - cos^2 of the angle.
  const std::vector<double> a{1, 1}, b{1, 0};
  EXPECT_NEAR(infidelity(a, b), 0.5, 1e-15);
}

TEST(InputStrength, IsTheLengthOfInputTimesGradient) {
  const InputGradient tokens{
      .values = Tensor::from<float>({2, 2}, std::vector<float>{3, 4, 1, 0}),
      .gradient = Tensor::from<float>({2, 2}, std::vector<float>{1, -1, 2, 9})};
  EXPECT_EQ(input_strength(tokens, support::text_axis({"a", "b"})), (std::vector<double>{5, 2}));
  // Two channels of 2 x 4 pixels, cells of 2 x 2, and a special token in front.
  std::vector<float> gradient(16, 0);
  gradient[0] = 3;
  gradient[8 + 5] = -4;  // second channel, second line: the first cell too
  gradient[3] = 2;
  const InputGradient pixels{.values = Tensor::from<float>({2, 2, 4}, std::vector<float>(16, 1)),
                             .gradient = Tensor::from<float>({2, 2, 4}, gradient),
                             .grid_rows = 1,
                             .grid_cols = 2,
                             .cell_height = 2,
                             .cell_width = 2};
  Axis patches = support::text_axis({"[CLS]", "a", "b"}, "patches");
  EXPECT_EQ(input_strength(pixels, patches), (std::vector<double>{0, 5, 2}));
}

TEST(Faithfulness, OfTheWeightsOfALineIsPerfect) {
  const std::vector<double> weights = some_weights(31);
  Linear model(weights, 0);
  FaithfulnessJudge judge(model, kLogit, axis_of(31), {});
  const FaithfulnessCard card = judge.judge(weights, {{"all", weights}});
  EXPECT_NEAR(value(card, GradeKind::kInfidelity), 0, 1e-12);
  EXPECT_NEAR(value(card, GradeKind::kGradient), 1, 1e-12);
  EXPECT_NEAR(value(card, GradeKind::kRandomWeights), 1, 1e-12);
  EXPECT_EQ(verdict(card, GradeKind::kRandomWeights), Verdict::kStays);
  for (const GradeKind kind :
       {GradeKind::kDeletion, GradeKind::kInsertion, GradeKind::kInfidelity,
        GradeKind::kComprehensiveness, GradeKind::kSufficiency, GradeKind::kGradient}) {
    EXPECT_EQ(verdict(card, kind), Verdict::kBetter) << static_cast<size_t>(kind);
  }
  EXPECT_NEAR(card.clean, std::accumulate(weights.begin(), weights.end(), 0.0), kF32 * 100);
  EXPECT_EQ(card.empty, 0);
  EXPECT_EQ(card.positions, 30);
  EXPECT_EQ(card.runs, model.runs);
}

TEST(Faithfulness, OfThePlantedPositionsBeatsRandomAndTurnedRoundLoses) {
  // Three of 24 positions decide; all others say nothing.
  std::vector<double> weights(25, 0.0);
  weights[3] = weights[11] = weights[20] = 2;
  Linear model(weights, -3);
  FaithfulnessJudge judge(model, kProbability, axis_of(25), {});
  std::vector<double> right = weights, wrong = weights;
  for (double& score : wrong) score = -score;
  const FaithfulnessCard good = judge.judge(right, {}), bad = judge.judge(wrong, {});
  for (const GradeKind kind : {GradeKind::kDeletion, GradeKind::kInsertion,
                               GradeKind::kComprehensiveness, GradeKind::kSufficiency}) {
    EXPECT_EQ(verdict(good, kind), Verdict::kBetter) << static_cast<size_t>(kind);
    // Without all three nothing is left to lose, which many random orders reach too.
    const Verdict lost = kind == GradeKind::kSufficiency ? Verdict::kNoBetter : Verdict::kWorse;
    EXPECT_EQ(verdict(bad, kind), lost) << static_cast<size_t>(kind);
  }
  // Deletion turned round is insertion from the other end.
  std::vector<double> back = bad.insertion.values;
  std::ranges::reverse(back);
  EXPECT_NEAR(area_under(bad.insertion), area_under({bad.insertion.shares, back}), 1e-12);
  EXPECT_LT(value(good, GradeKind::kDeletion), good.lines[0].random.low);
}

TEST(Faithfulness, IsProbabilityOfTheAnswerUnlessToldOtherwise) {
  Linear model({0, 1, 2}, 0.5);
  FaithfulnessJudge judge(model, kProbability, axis_of(3), {.orders = 2});
  const FaithfulnessCard card = judge.judge({0, 1, 2}, {});
  EXPECT_NEAR(card.clean, 1 / (1 + std::exp(-3.5)), kF32);
  EXPECT_NEAR(card.empty, 1 / (1 + std::exp(-0.5)), kF32);
  const Target other = ClassTarget{1};
  const WatchedAnswer contrast{
      .target = kFirstClass, .against = &other, .measure = TargetMeasure::kLogit};
  FaithfulnessJudge apart(model, contrast, axis_of(3), {.orders = 2});
  EXPECT_NEAR(apart.judge({0, 1, 2}, {}).clean, 3.5, kF32);
}

TEST(Faithfulness, StandsBesideWhatRandomNumbersGet) {
  const std::vector<double> weights = some_weights(31);
  Linear model(weights, 0);
  FaithfulnessJudge judge(model, kLogit, axis_of(31), {.orders = 200, .seed = 1});
  const FaithfulnessCard card = judge.judge(weights, {});
  ASSERT_EQ(judge.random_grades().size(), 200U);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  // In any order a line loses half on the way, 0.305 of everything (after rounding: 1, 2, 3, 6 and
  // 15 of 30 positions) at the thresholds' mean; 200 orders know that to a few percent.
  const auto random = [&](GradeKind kind) { return card.lines[static_cast<size_t>(kind)].random; };
  EXPECT_NEAR(random(GradeKind::kDeletion).mean, sum / 2, 0.02 * sum);
  EXPECT_NEAR(random(GradeKind::kInsertion).mean, sum / 2, 0.02 * sum);
  EXPECT_NEAR(random(GradeKind::kComprehensiveness).mean, sum * 27 / 150, 0.02 * sum);
  EXPECT_NEAR(random(GradeKind::kSufficiency).mean, sum * 123 / 150, 0.02 * sum);
  EXPECT_NEAR(random(GradeKind::kGradient).mean, 0, 0.05);
  EXPECT_NEAR(random(GradeKind::kRandomWeights).mean, 0, 0.05);
  for (const CardLine& line : card.lines) {
    EXPECT_LT(line.random.low, line.random.mean);
    EXPECT_GT(line.random.high, line.random.mean);
  }
  EXPECT_EQ(card.random_deletion.shares, card.deletion.shares);
  EXPECT_EQ(card.random_deletion.values.front().low, card.clean);
  EXPECT_EQ(card.random_insertion.values.back().high, card.clean);
}

TEST(Faithfulness, OfManyRandomNumbersIsNoBetterIn95OfHundred) {
  const std::vector<double> weights = some_weights(31);
  Linear model(weights, 0);
  FaithfulnessJudge judge(model, kLogit, axis_of(31), {.orders = 200});
  Draws draws(99);
  int outside = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> scores(31);
    for (double& score : scores) score = draws.uniform();
    outside += verdict(judge.judge(scores, {}), GradeKind::kDeletion) != Verdict::kNoBetter;
  }
  // 10 are expected; 200 orders place the limits to about 1 % each, so 30 is four deviations.
  EXPECT_LE(outside, 30);
  EXPECT_GE(outside, 1);
}

TEST(Faithfulness, RunsTheModelAsOftenAsItsHelpSays) {
  const std::vector<double> weights = some_weights(785);
  Linear model(weights, 0);
  FaithfulnessJudge judge(model, kLogit, axis_of(785), {});
  // 32 orders at 19 points and two thresholds between them, the whole input and the empty one.
  EXPECT_EQ(model.runs, 32 * 21 + 2);
  judge.judge(weights, {});
  EXPECT_EQ(model.runs, 32 * 21 + 2 + 2 * 20);
}

TEST(Faithfulness, IsTheSameForTheSameSeed) {
  const std::vector<double> weights = some_weights(25);
  Linear model(weights, 0);
  const auto random_of = [&](uint64_t seed) {
    FaithfulnessJudge judge(model, kProbability, axis_of(25), {.seed = seed});
    return judge.random_grades();
  };
  EXPECT_EQ(random_of(4), random_of(4));
  EXPECT_NE(random_of(4), random_of(5));
}

TEST(Faithfulness, SaysWhyANumberIsMissing) {
  Linear model(some_weights(9), 0);
  model.has_gradient = false;
  FaithfulnessJudge judge(model, kLogit, axis_of(9), {.orders = 4});
  const FaithfulnessCard card = judge.judge(some_weights(9), {}, "the method cannot");
  const CardLine& tau = card.lines[static_cast<size_t>(GradeKind::kGradient)];
  EXPECT_TRUE(std::isnan(tau.value));
  EXPECT_NE(tau.missing.find("gradients"), std::string::npos);
  EXPECT_EQ(tau.verdict, Verdict::kNone);
  EXPECT_EQ(card.lines[static_cast<size_t>(GradeKind::kRandomWeights)].missing,
            "the method cannot");
  const FaithfulnessCard flat =
      judge.judge(std::vector<double>(9, 1.0), {{"all", some_weights(9)}});
  EXPECT_EQ(flat.lines[static_cast<size_t>(GradeKind::kRandomWeights)].missing,
            "all scores are the same");
}

TEST(Faithfulness, AgreesWithTheGradientByKendallsTau) {
  Linear model({0, 1, 2, 3, 4}, 0);
  FaithfulnessJudge judge(model, kLogit, axis_of(5), {.orders = 2});
  // One of six pairs is turned round, and signs do not count: (5 - 1) / 6, where rho would be 0.8.
  const FaithfulnessCard card = judge.judge({9, 1, -3, 2, 4}, {});
  EXPECT_NEAR(value(card, GradeKind::kGradient), 2.0 / 3, 1e-12);
}

TEST(Faithfulness, FollowsTheCascadeFromTheTop) {
  const std::vector<double> weights = some_weights(9);
  Linear model(weights, 0);
  FaithfulnessJudge judge(model, kLogit, axis_of(9), {.orders = 4});
  std::vector<double> turned = weights;
  for (double& score : turned) score = 10 - score;
  turned[0] = 0;
  const FaithfulnessCard card =
      judge.judge(weights, {{"layer 1 and above", weights}, {"all", turned}});
  ASSERT_EQ(card.cascade.size(), 2U);
  EXPECT_NEAR(card.cascade[0].rho, 1, 1e-12);
  EXPECT_NEAR(card.cascade[1].rho, -1, 1e-12);
  EXPECT_EQ(value(card, GradeKind::kRandomWeights), card.cascade[1].rho);
}

TEST(Faithfulness, RefusesWhatIsNoInput) {
  Linear model({0, 1, 2}, 0);
  const auto judge = [&](const Axis& axis, const FaithfulnessOptions& options = {}) {
    FaithfulnessJudge(model, kLogit, axis, options);
  };
  const auto refused = ErrorKind::kUnsupported;
  EXPECT_TRUE(fails_with(refused, "heads", [&] { judge({.name = "heads"}); }));
  EXPECT_TRUE(fails_with(refused, "queries", [&] { judge({.name = "queries"}); }));
  EXPECT_TRUE(fails_with(refused, "1 position ", [&] { judge(axis_of(2)); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "0 steps", [&] { judge(axis_of(3), {.steps = 0}); }));
  FaithfulnessJudge good(model, kLogit, axis_of(3), {.orders = 2});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 scores", [&] { good.judge({1, 2}, {}); }));
}

TEST(Faithfulness, StopsWhenItIsCancelled) {
  class Cancelled final : public Subject {
   public:
    SubjectOutput run(const std::vector<Intervention>&, const RecorderOptions&) override {
      check_cancelled();
      return {};
    }
    bool multi_label() const override { return false; }
  };
  Cancelled model;
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "cancelled",
                         [&] { FaithfulnessJudge(model, kLogit, axis_of(5), {}); }));
}

}  // namespace
}  // namespace fovea
