#include "fovea/explain/faithfulness/faithfulness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/explain/faithfulness/input_strength.h"
#include "fovea/explain/faithfulness/rank_correlation.h"

namespace fovea {
namespace {

constexpr double kNoGrade = std::numeric_limits<double>::quiet_NaN();

// Neighbouring positions have similar scores, unlike random numbers. So even maps with nothing in
// common correlate a little more than random numbers do.
constexpr double kUnlikeMaps = 0.2;

constexpr size_t index_of(GradeKind kind) {
  return static_cast<size_t>(kind);
}

std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

CurveBand band_of(const std::vector<RemovalCurve>& curves) {
  CurveBand band{.shares = curves.front().shares, .values = {}};
  for (size_t point = 0; point < band.shares.size(); ++point) {
    std::vector<double> values;
    for (const RemovalCurve& curve : curves) values.push_back(curve.values[point]);
    band.values.push_back(spread_of(values));
  }
  return band;
}

// A cosine at its maximum has no slope.
bool is_at_its_top(const WatchedAnswer& answer, double value) {
  constexpr double kRounding = 1e-5;  // of f32 sums over a few hundred numbers
  return std::holds_alternative<SimilarityTarget>(answer.target) && answer.against == nullptr &&
         value > 1 - kRounding;
}

}  // namespace

const std::array<GradeInfo, kGradeKinds>& grade_infos() {
  static const std::array<GradeInfo, kGradeKinds> infos = {{
      {"deletion", "del", Wish::kLow, "area while the most important goes first"},
      {"insertion", "ins", Wish::kHigh, "area while the most important comes first"},
      {"comprehensiveness", "comp", Wish::kHigh, "lost without the most important"},
      {"sufficiency", "suff", Wish::kLow, "lost with the most important alone"},
      {"infidelity", "infid", Wish::kLow, "share of the loss that scores tell wrong"},
      {"tau to gradient", "tau", Wish::kHigh, "Kendall's tau-b to |x * gradient|"},
      {"random weights", "rand", Wish::kNearZero, "Spearman's rho to the untrained model"},
  }};
  return infos;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kNoBetter:
      return "no better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kCollapses:
      return "collapses";
    case Verdict::kStays:
      return "stays";
    case Verdict::kNone:
      break;
  }
  return "-";
}

Verdict verdict_of(GradeKind kind, double value, const Interval& random) {
  if (!std::isfinite(value) || !std::isfinite(random.low)) return Verdict::kNone;
  const Wish wish = grade_infos()[index_of(kind)].wish;
  if (wish == Wish::kNearZero) {
    const double reach = std::max({std::abs(random.low), std::abs(random.high), kUnlikeMaps});
    return std::abs(value) <= reach ? Verdict::kCollapses : Verdict::kStays;
  }
  if (value >= random.low && value <= random.high) return Verdict::kNoBetter;
  return (value > random.high) == (wish == Wish::kHigh) ? Verdict::kBetter : Verdict::kWorse;
}

std::string refuses_card(const Axis& axis) {
  if (axis.name == "heads") {
    return "its scores are of heads, and what can be taken away are positions of the input";
  }
  if (axis.name == "queries") {
    return "its scores are of object queries, which are no part of the input";
  }
  const auto count = std::ranges::count(axis.positions, false, &Position::special);
  if (count >= 2) return "";
  return fmt::format("the input has {} position{} that can be taken away, and an order needs two",
                     count, count == 1 ? "" : "s");
}

FaithfulnessJudge::FaithfulnessJudge(Subject& subject, const WatchedAnswer& answer,
                                     const Axis& axis, const FaithfulnessOptions& options)
    : options_(options),
      runs_(subject, answer, axis, options.removal),
      axis_positions_(axis.positions.size()) {
  if (const std::string reason = refuses_card(axis); !reason.empty()) {
    fail(ErrorKind::kUnsupported, "this explanation cannot be checked: {}", reason);
  }
  constexpr int64_t kMostOrders = 10'000;  // days on any machine
  if (options.steps < 1 || options.orders < 2 || options.orders > kMostOrders) {
    fail(ErrorKind::kInvalidArgument,
         "a check of {} steps and {} random orders is asked for; take 1 step or more and 2 to {} "
         "orders",
         options.steps, options.orders, kMostOrders);
  }
  find_gradient(subject, answer, axis);
  grade_random_numbers();
}

std::vector<double> FaithfulnessJudge::removable(const std::vector<double>& scores) const {
  if (scores.size() != axis_positions_) {
    fail(ErrorKind::kInvalidArgument, "{} scores are to be checked but the axis has {} positions",
         scores.size(), axis_positions_);
  }
  std::vector<double> picked;
  for (const int64_t position : runs_.positions()) {
    picked.push_back(scores[static_cast<size_t>(position)]);
  }
  return picked;
}

void FaithfulnessJudge::find_gradient(Subject& subject, const WatchedAnswer& answer,
                                      const Axis& axis) {
  GradientRequest request{.target = answer.target, .against = {}, .record = {}, .at = {}};
  if (answer.against != nullptr) request.against = *answer.against;
  SubjectGradient gradient;
  try {
    gradient = subject.gradient(request);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    why_no_gradient_ = error.what();
    return;
  }
  if (is_at_its_top(answer, gradient.value)) {
    why_no_gradient_ = "an embedding compared with itself has no slope; compare with another";
    return;
  }
  const auto found = std::ranges::find(gradient.inputs, axis.name, &InputGradient::axis);
  if (found == gradient.inputs.end()) {
    why_no_gradient_ = fmt::format("the model has no gradient along its {}", axis.name);
    return;
  }
  gradient_ = removable(input_strength(*found, axis));
}

double FaithfulnessJudge::agreement_with_gradient(const std::vector<double>& scores) const {
  return gradient_.empty() ? kNoGrade : kendall_tau_b(absolute(scores), gradient_);
}

// Infidelity over all sets that the random orders took away.
double FaithfulnessJudge::infidelity_of(const std::vector<double>& scores) const {
  std::vector<double> sums, losses;
  for (size_t i = 0; i < random_scores_.size(); ++i) {
    const std::vector<size_t> order = order_of(random_scores_[i]);
    const std::vector<size_t> points = curve_points(order.size(), options_.steps);
    const std::vector<double>& values = random_deletions_[i].values;
    double sum = 0;
    for (size_t point = 1; point < points.size(); ++point) {
      for (size_t k = points[point - 1]; k < points[point]; ++k) sum += scores[order[k]];
      sums.push_back(sum);
      losses.push_back(values[0] - values[point]);
    }
  }
  return infidelity(sums, losses);
}

void FaithfulnessJudge::grade_random_numbers() {
  Draws draws(options_.seed);
  const auto count = static_cast<size_t>(options_.orders);
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> scores(runs_.positions().size());
    for (double& score : scores) score = draws.uniform();
    random_scores_.push_back(std::move(scores));
  }
  Progress progress("random orders", options_.orders);
  for (const std::vector<double>& scores : random_scores_) {
    const std::vector<size_t> order = order_of(scores);
    // The reversed order is just as random, and the sets that it takes away have been run already.
    const std::vector<size_t> turned(order.rbegin(), order.rend());
    random_deletions_.push_back(deletion_curve(runs_, order, options_.steps));
    random_insertions_.push_back(insertion_curve(runs_, turned, options_.steps));
    Grades grades;
    grades.fill(kNoGrade);
    grades[index_of(GradeKind::kDeletion)] = area_under(random_deletions_.back());
    grades[index_of(GradeKind::kInsertion)] = area_under(random_insertions_.back());
    grades[index_of(GradeKind::kComprehensiveness)] = comprehensiveness(runs_, order);
    grades[index_of(GradeKind::kSufficiency)] = sufficiency(runs_, turned);
    grades[index_of(GradeKind::kGradient)] = agreement_with_gradient(scores);
    random_grades_.push_back(grades);
    progress.advance();
  }
  for (size_t i = 0; i < count; ++i) {
    random_grades_[i][index_of(GradeKind::kInfidelity)] = infidelity_of(random_scores_[i]);
    random_grades_[i][index_of(GradeKind::kRandomWeights)] =
        spearman(random_scores_[i], random_scores_[(i + 1) % count]);
  }
}

Interval FaithfulnessJudge::random_interval(size_t kind) const {
  std::vector<double> values;
  for (const Grades& grades : random_grades_) values.push_back(grades[kind]);
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); })
             ? spread_of(values)
             : Interval{kNoGrade, kNoGrade, kNoGrade};
}

FaithfulnessCard FaithfulnessJudge::judge(const std::vector<double>& all_scores,
                                          const std::vector<RandomizedScores>& randomized,
                                          const std::string& why_not_randomized) {
  const std::vector<double> scores = removable(all_scores);
  const std::vector<size_t> order = order_of(scores);
  FaithfulnessCard card;
  card.options = options_;
  card.deletion = deletion_curve(runs_, order, options_.steps);
  card.insertion = insertion_curve(runs_, order, options_.steps);
  card.random_deletion = band_of(random_deletions_);
  card.random_insertion = band_of(random_insertions_);
  for (const RandomizedScores& step : randomized) {
    card.cascade.push_back(
        {step.weights, spearman(absolute(scores), absolute(removable(step.scores)))});
  }
  card.clean = card.deletion.values.front();
  card.empty = card.deletion.values.back();
  card.positions = static_cast<int64_t>(scores.size());
  const auto set = [&](GradeKind kind, double value, const std::string& reason) {
    CardLine& line = card.lines[index_of(kind)];
    line.value = value;
    line.random = random_interval(index_of(kind));
    line.verdict = verdict_of(kind, value, line.random);
    if (!std::isfinite(value)) line.missing = reason;
  };
  const std::string constant = "all scores are the same";
  set(GradeKind::kDeletion, area_under(card.deletion), "");
  set(GradeKind::kInsertion, area_under(card.insertion), "");
  set(GradeKind::kComprehensiveness, comprehensiveness(runs_, order), "");
  set(GradeKind::kSufficiency, sufficiency(runs_, order), "");
  set(GradeKind::kInfidelity, infidelity_of(scores), "nothing changes the answer");
  set(GradeKind::kGradient, agreement_with_gradient(scores),
      why_no_gradient_.empty() ? constant : why_no_gradient_);
  set(GradeKind::kRandomWeights, card.cascade.empty() ? kNoGrade : card.cascade.back().rho,
      card.cascade.empty() ? why_not_randomized : constant);
  card.runs = runs_.runs();
  return card;
}

}  // namespace fovea
