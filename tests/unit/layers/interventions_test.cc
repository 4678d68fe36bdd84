#include "fovea/layers/interventions.h"

#include <gtest/gtest.h>

#include "support/attention_cases.h"

namespace fovea {
namespace {

using support::AttentionCase;

constexpr SiteId kChangedSite{SiteKind::kSelf, 3};
constexpr double kNever = -std::numeric_limits<double>::infinity();

// The definition, cell by cell in double: scores and values are changed, then softmax and sum.
std::vector<double> reference(const AttentionCase& c,
                              const std::function<double(int64_t, int64_t, int64_t, double)>& score,
                              const std::function<double(int64_t)>& value_factor) {
  const support::DenseAttention dense = support::dense_attention(c);
  const Tensor values = convert(c.values, DType::kF32);
  std::vector<double> outputs;
  for (int64_t h = 0; h < c.shape.heads; ++h) {
    for (int64_t i = 0; i < c.shape.rows; ++i) {
      std::vector<double> weights(static_cast<size_t>(c.shape.cols));
      double sum = c.rule.sink_logit.empty()
                       ? 0
                       : std::exp(double{c.rule.sink_logit[static_cast<size_t>(h)]});
      for (int64_t j = 0; j < c.shape.cols; ++j) {
        const auto cell = static_cast<size_t>(i * c.shape.cols + j);
        const double s = score(h, i, j, dense.scores[static_cast<size_t>(h)][cell]);
        weights[static_cast<size_t>(j)] = s == kNever ? 0 : std::exp(s);
        sum += weights[static_cast<size_t>(j)];
      }
      for (int64_t d = 0; d < c.shape.value_dim; ++d) {
        double out = 0;
        for (int64_t j = 0; j < c.shape.cols && sum > 0; ++j) {
          out += weights[static_cast<size_t>(j)] / sum * value_factor(j) *
                 double{values.matrix<float>(c.shape.kv_head(h))(j, d)};
        }
        outputs.push_back(out);
      }
    }
  }
  return outputs;
}

Tensor changed_output(const AttentionCase& c, std::vector<Intervention> changes) {
  const Interventions interventions(std::move(changes));
  const AttentionPlace place{.site = kChangedSite};
  AttentionParts parts{convert(c.queries, DType::kF32), convert(c.keys, DType::kF32),
                       convert(c.values, DType::kF32), std::make_shared<ScoreRule>(c.rule)};
  parts = interventions.before(place, parts);
  const Tensor output =
      ops::attention(parts.queries, parts.keys, parts.values, parts.rule).output.tensor;
  return interventions.after(place, output);
}

// Weights are right to 1e-6 (atlas' own tests); values are of size 1 and there are few of them.
void expect_near(const Tensor& found, const std::vector<double>& wanted, const std::string& name) {
  ASSERT_EQ(found.elements(), static_cast<int64_t>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(double{found.values<float>()[i]}, wanted[i], 2e-5) << name << ", number " << i;
  }
}

const auto kKeep = [](int64_t, int64_t, int64_t, double s) { return s; };
const auto kWhole = [](int64_t) { return 1.0; };

TEST(Interventions, GiveWhatTheDefinitionGivesForEveryKindOfAttention) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const AttentionCase c = support::random_case(seed, 12, 2);
    const int64_t row = c.shape.rows / 2, col = c.shape.cols / 2, head = c.shape.heads - 1;
    expect_near(changed_output(c, {HidePosition{"tokens", col}}),
                reference(
                    c, [&](int64_t, int64_t, int64_t j, double s) { return j == col ? kNever : s; },
                    kWhole),
                "hidden position, " + c.name);
    expect_near(
        changed_output(c, {HideEdge{std::nullopt, row, col}, HideEdge{kChangedSite, row, 0}}),
        reference(
            c,
            [&](int64_t, int64_t i, int64_t j, double s) {
              return i == row && (j == col || j == 0) ? kNever : s;
            },
            kWhole),
        "cut edges, " + c.name);
    expect_near(changed_output(c, {ZeroValue{kChangedSite, col}}),
                reference(c, kKeep, [&](int64_t j) { return j == col ? 0.0 : 1.0; }),
                "zeroed value, " + c.name);
    std::vector<double> without = reference(c, kKeep, kWhole);
    const int64_t size = c.shape.rows * c.shape.value_dim;
    std::vector<double> scaled = without;
    for (int64_t i = head * size; i < (head + 1) * size; ++i) scaled[static_cast<size_t>(i)] *= 0.3;
    expect_near(changed_output(c, {ScaleHead{kChangedSite, head, 0.3F}}), scaled,
                "scaled head, " + c.name);
    std::fill_n(without.begin() + head * size, size, 0.0);
    expect_near(changed_output(c, {SilenceHead{kChangedSite, head}}), without,
                "zeroed head, " + c.name);
  }
}

TEST(Interventions, AnEvenHeadGivesTheMeanOfWhatItMaySee) {
  int even = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const AttentionCase c = support::random_case(seed, 12, 2);
    const int64_t head = c.shape.heads - 1;
    const auto* dense = std::get_if<DenseBias>(&c.rule.bias);
    const bool shared = dense != nullptr && dense->values.size(0) == 1 && c.shape.heads > 1;
    if (!c.rule.sink_logit.empty() || shared) {
      EXPECT_THROW(changed_output(c, {EvenHead{kChangedSite, head}}), Error) << c.name;
      continue;
    }
    ++even;
    expect_near(changed_output(c, {EvenHead{kChangedSite, head}}),
                reference(
                    c,
                    [&](int64_t h, int64_t, int64_t, double s) {
                      return h == head && s != kNever ? 0.0 : s;
                    },
                    kWhole),
                "even head, " + c.name);
  }
  EXPECT_GT(even, 20);
}

TEST(Interventions, LeaveOtherSitesAndAxesAlone) {
  const AttentionCase c = support::random_case(4, 12, 2);
  const std::vector<double> clean = reference(c, kKeep, kWhole);
  const SiteId other{SiteKind::kSelf, 2};
  expect_near(
      changed_output(c, {HidePosition{"source", 0}, HideEdge{other, 0, 0}, SilenceHead{other, 0},
                         ScaleHead{other, 0, 2}, EvenHead{other, 0}, ZeroValue{other, 0}}),
      clean, c.name);
}

TEST(Interventions, RefuseWhatIsNotThere) {
  const AttentionCase c = support::random_case(4, 12, 2);
  EXPECT_THROW(changed_output(c, {HidePosition{"tokens", c.shape.cols}}), Error);
  EXPECT_THROW(changed_output(c, {HidePosition{"tokens", -1}}), Error);
  EXPECT_THROW(changed_output(c, {HideEdge{kChangedSite, c.shape.rows, 0}}), Error);
  EXPECT_THROW(changed_output(c, {HideEdge{kChangedSite, 0, c.shape.cols}}), Error);
  EXPECT_THROW(changed_output(c, {SilenceHead{kChangedSite, c.shape.heads}}), Error);
  EXPECT_THROW(changed_output(c, {ScaleHead{kChangedSite, c.shape.heads, 2}}), Error);
  EXPECT_THROW(changed_output(c, {EvenHead{kChangedSite, -1}}), Error);
  EXPECT_THROW(changed_output(c, {ZeroValue{std::nullopt, c.shape.cols}}), Error);
}

}  // namespace
}  // namespace fovea
