// The faithfulness card: how far an explanation can be believed. Positions are taken away in the
// explanation's order, and the model's answer is watched. The card also tells whether the scores
// agree with the gradient, and whether they change when the weights are random. Beside each grade
// stands what random numbers get.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/explain/faithfulness/removal_curve.h"
#include "fovea/explain/faithfulness/resampling.h"
#include "fovea/explain/method.h"

namespace fovea {

enum class GradeKind : size_t {
  kDeletion,           // area under the deletion curve
  kInsertion,          // area under the insertion curve
  kComprehensiveness,  // what is lost without the most important
  kSufficiency,        // what is lost with the most important alone
  kInfidelity,         // how badly scores tell what is lost
  kGradient,           // Kendall's tau-b of |scores| and |x * gradient|
  kRandomWeights,      // Spearman's rho of |scores| and those of the same model untrained
};
inline constexpr size_t kGradeKinds = 7;

enum class Wish { kLow, kHigh, kNearZero };

struct GradeInfo {
  std::string_view name;    // "deletion"
  std::string_view column;  // the same in few letters: "del"
  Wish wish;                // what a good explanation has
  std::string_view says;    // one line
};
const std::array<GradeInfo, kGradeKinds>& grade_infos();

// One number of each kind; NaN if there is none.
using Grades = std::array<double, kGradeKinds>;

enum class Verdict { kNone, kBetter, kNoBetter, kWorse, kCollapses, kStays };
std::string_view to_string(Verdict verdict);  // "better", "no better", ...; kNone: "-"

// Judges a value against the interval that random numbers get. For random weights, collapsing is
// right.
Verdict verdict_of(GradeKind kind, double value, const Interval& random);

struct FaithfulnessOptions {
  Removal removal = Removal::kBlank;
  TargetMeasure measure = TargetMeasure::kProbability;
  int64_t steps = 20;   // points of a curve, less one
  int64_t orders = 32;  // explanations made of random numbers
  uint64_t seed = 0;    // for those numbers
};

// The scores that the same method gives the same input with random weights.
struct RandomizedScores {
  std::string weights;  // which are random: "all", "layer 3 and above"
  std::vector<double> scores;
};

struct CascadeStep {
  std::string weights;
  double rho = 0;  // NaN: one of the two is constant
};

struct CurveBand {
  std::vector<double> shares;
  std::vector<Interval> values;
};

struct CardLine {
  double value = 0;     // NaN: there is none
  std::string missing;  // why there is none; empty: there is one
  Interval random;      // what random numbers get
  Verdict verdict = Verdict::kNone;
};

struct FaithfulnessCard {
  std::array<CardLine, kGradeKinds> lines;
  RemovalCurve deletion, insertion;
  CurveBand random_deletion, random_insertion;
  std::vector<CascadeStep> cascade;  // from the top of the model; the last is all weights
  double clean = 0;                  // the answer's value on the whole input
  double empty = 0;                  // without any position
  int64_t positions = 0;             // how many positions were taken away
  int64_t runs = 0;                  // how often the model ran
  FaithfulnessOptions options;
};

// Grades explanations of one input. All share the gradient and the runs for random numbers.
class FaithfulnessJudge {
 public:
  // Runs the model about orders * (steps + 2) times. The axis may go; everything else must outlive
  // this. Throws Error{kUnsupported} if fewer than two positions of the axis can be taken away.
  FaithfulnessJudge(Subject& subject, const WatchedAnswer& answer, const Axis& axis,
                    const FaithfulnessOptions& options);

  // Grades the scores of all positions of the axis. Runs the model about 2 * steps times. Without
  // randomised scores, the card gives `why_not_randomized`.
  FaithfulnessCard judge(const std::vector<double>& scores,
                         const std::vector<RandomizedScores>& randomized,
                         const std::string& why_not_randomized = "nobody asked for it");
  // The grades of each explanation made of random numbers.
  const std::vector<Grades>& random_grades() const { return random_grades_; }

 private:
  std::vector<double> removable(const std::vector<double>& scores) const;
  void find_gradient(Subject& subject, const WatchedAnswer& answer, const Axis& axis);
  void grade_random_numbers();
  double infidelity_of(const std::vector<double>& scores) const;
  double agreement_with_gradient(const std::vector<double>& scores) const;
  Interval random_interval(size_t kind) const;

  FaithfulnessOptions options_;
  RemovalRuns runs_;
  size_t axis_positions_;
  std::vector<double> gradient_;  // for positions that can be taken away; empty: none
  std::string why_no_gradient_;
  std::vector<std::vector<double>> random_scores_;
  std::vector<Grades> random_grades_;
  std::vector<RemovalCurve> random_deletions_, random_insertions_;
};

// Why explanations over this axis cannot be graded; empty: they can.
std::string refuses_card(const Axis& axis);

}  // namespace fovea
