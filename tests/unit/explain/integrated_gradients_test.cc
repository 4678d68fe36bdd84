#include "fovea/explain/integrated_gradients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/cancel.h"
#include "fovea/explain/target_gradient.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

// F(x, y) = sum_i c_i x_i^power + y . y of two inputs, with its gradient.
class Polynomial final : public Subject {
 public:
  explicit Polynomial(int power) : power_(power) {}

  SubjectOutput run(const std::vector<Intervention>&, const RecorderOptions&) override {
    return {};
  }
  bool multi_label() const override { return false; }

  SubjectGradient gradient(const GradientRequest& request) override {
    check_cancelled();
    const auto at = [&](const char* name, const Tensor& own) {
      const auto found = request.at.find(name);
      return found == request.at.end() ? own : found->second;
    };
    SubjectGradient result;
    InputGradient x{.name = "x", .axis = "tokens", .values = at("x", x_)};
    InputGradient y{.name = "y", .axis = "target", .values = at("y", y_)};
    x.gradient = Tensor(x_.shape());
    y.gradient = Tensor(y_.shape());
    for (size_t i = 0; i < 6; ++i) {
      const double value = x.values.values<float>()[i], factor = double(i) - 2;
      result.value += factor * std::pow(value, power_);
      x.gradient.mutable_values<float>()[i] =
          static_cast<float>(factor * power_ * std::pow(value, power_ - 1));
    }
    for (size_t i = 0; i < 2; ++i) {
      const double value = y.values.values<float>()[i];
      result.value += value * value;
      y.gradient.mutable_values<float>()[i] = static_cast<float>(2 * value);
    }
    if (request.inputs) result.inputs = {x, y};
    return result;
  }

  Tensor x_ = Tensor::from<float>({3, 2}, std::vector<float>{1, 2, -1, 0.5, 3, -2});
  Tensor y_ = Tensor::from<float>({2, 1}, std::vector<float>{2, -1});

 private:
  int power_;
};

IntegratedGradients integrate(Polynomial& subject, int64_t steps, const Tensor& from) {
  const auto inputs = subject.gradient({.target = {}, .record = {}, .at = {}}).inputs;
  return integrated_gradients(subject, {.target = {}, .record = {}, .at = {}}, {inputs[0]}, {from},
                              steps);
}

TEST(IntegratedGradients, SumToTheChangeExactlyWhereTheMidpointRuleIsExact) {
  Polynomial square(2);
  const Tensor from = Tensor::from<float>({3, 2}, std::vector<float>{0, 1, 1, 0, -1, 2});
  for (const int64_t steps : {1, 2, 7}) {
    const IntegratedGradients found = integrate(square, steps, from);
    ASSERT_EQ(found.attributions.size(), 1U);
    for (size_t i = 0; i < 6; ++i) {
      const double x = square.x_.values<float>()[i], start = from.values<float>()[i];
      EXPECT_NEAR(found.attributions[0].values<float>()[i],
                  (double(i) - 2) * (x * x - start * start), 1e-5);
    }
    EXPECT_NEAR(found.gap(), 0, 1e-5);
    // The other input stays: 5 is its part of both.
    EXPECT_NEAR(found.at_input, -2 - 4 + 0 + 0.25 + 18 + 12 + 5, 1e-5);
    EXPECT_NEAR(found.at_baseline, -1 + 0 + 2 * 1 + 3 * 4 + 5, 1e-5);
  }
}

// For x^3, the midpoint rule with K steps gives the share 1 - 1 / (4 K^2) of the integral.
TEST(IntegratedGradients, HaveTheMidpointRulesError) {
  Polynomial cube(3);
  for (const int64_t steps : {2, 4, 32}) {
    const IntegratedGradients found = integrate(cube, steps, Tensor(Shape{3, 2}));
    const double change = found.at_input - found.at_baseline;
    EXPECT_NEAR(found.gap() / change, -1 / (4.0 * double(steps * steps)), 1e-5);
  }
}

TEST(IntegratedGradients, RefuseWhatDoesNotFit) {
  Polynomial square(2);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "[2, 2]", [&] {
    integrate(square, 2, Tensor(Shape{2, 2}));
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "0 steps", [&] {
    integrate(square, 0, Tensor(Shape{3, 2}));
  }));
}

TEST(TargetGradient, AsksAboutTheTargetLessTheOther) {
  class Watching final : public Subject {
   public:
    SubjectOutput run(const std::vector<Intervention>&, const RecorderOptions&) override {
      return {};
    }
    bool multi_label() const override { return false; }
    SubjectGradient gradient(const GradientRequest& request) override {
      asked = request;
      return {.value = value, .inputs = {}, .records = {}};
    }
    GradientRequest asked;
    double value = 1;
  } subject;
  const fovea::Run run = support::text_run({"the", "cat"}, 1, false, 1);
  const Target target = ClassTarget{2}, other = ClassTarget{1};
  target_gradient({.run = run, .subject = &subject, .target = &target, .against = &other},
                  {.target = {}, .record = {}, .at = {}});
  EXPECT_EQ(std::get<ClassTarget>(subject.asked.target).index, 2);
  ASSERT_TRUE(subject.asked.against);
  EXPECT_EQ(std::get<ClassTarget>(*subject.asked.against).index, 1);

  const Target similar = SimilarityTarget{{1, 2}};
  const ExplainRequest request{.run = run, .subject = &subject, .target = &similar};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"against"}, "to be similar to", [&] {
    target_gradient(request, {.target = {}, .record = {}, .at = {}});
  }));
  subject.value = 0.999;
  EXPECT_NO_THROW(target_gradient(request, {.target = {}, .record = {}, .at = {}}));
}

TEST(AskedInputs, AreThoseOfTheColumnsAndOfWhatADecoderHasRead) {
  const fovea::Run run = support::text_run({"the", "cat", "sat"}, 1, false, 1);
  Polynomial subject(2);
  const auto inputs = subject.gradient({.target = {}, .record = {}, .at = {}}).inputs;
  const ExplainRequest request{.run = run};
  const auto asked = asked_inputs(request, inputs);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].name, "x");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "tokens are no input",
                         [&] { asked_inputs(request, {inputs[1]}); }));
}

TEST(PositionScores, LeaveTokensInFrontAtZero) {
  InputGradient pixels{.name = "pixel_values",
                       .axis = "patches",
                       .values = Tensor(Shape{1, 2, 4}),
                       .grid_rows = 1,
                       .grid_cols = 2,
                       .cell_height = 2,
                       .cell_width = 2};
  const Tensor each = Tensor::from<float>({1, 2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  Axis axis{.name = "patches"};
  axis.positions.resize(3);
  EXPECT_EQ(position_scores(axis, pixels, each), (std::vector<double>{0, 14, 22}));
  axis.positions.resize(1);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 positions",
                         [&] { position_scores(axis, pixels, each); }));
}

}  // namespace
}  // namespace fovea
