#include "fovea/explain/faithfulness/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea {
namespace {

double mean_over_inputs(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Verdict verdict_over(GradeKind kind, std::span<const double> values,
                     std::span<const CardLine* const> lines, int64_t resamples, uint64_t seed) {
  if (grade_infos()[static_cast<size_t>(kind)].wish == Wish::kNearZero) {
    std::vector<double> reaches;
    for (const CardLine* line : lines) {
      reaches.push_back(std::max(std::abs(line->random.low), std::abs(line->random.high)));
    }
    const double reach = mean_over_inputs(reaches);
    return verdict_of(kind, mean_over_inputs(values), {0, -reach, reach});
  }
  std::vector<double> apart;
  for (size_t i = 0; i < values.size(); ++i) apart.push_back(values[i] - lines[i]->random.mean);
  const Interval advantage = bootstrap_mean(apart, resamples, seed);
  // Measured from the method, the method is at 0 and random numbers are at minus its advantage.
  return verdict_of(kind, 0, {0, -advantage.high, -advantage.low});
}

}  // namespace

MeanCard mean_card(std::span<const FaithfulnessCard> cards, int64_t resamples, uint64_t seed) {
  MeanCard mean;
  for (size_t k = 0; k < kGradeKinds; ++k) {
    std::vector<const CardLine*> lines;
    std::vector<double> values, randoms;
    for (const FaithfulnessCard& card : cards) {
      const CardLine& line = card.lines[k];
      if (mean[k].missing.empty()) mean[k].missing = line.missing;
      if (!std::isfinite(line.value)) continue;
      lines.push_back(&line);
      values.push_back(line.value);
      randoms.push_back(line.random.mean);
    }
    mean[k].inputs = static_cast<int64_t>(values.size());
    if (values.empty()) {
      mean[k].value = mean[k].random = spread_of({});
      continue;
    }
    mean[k].missing.clear();
    const auto kind = static_cast<GradeKind>(k);
    if (cards.size() == 1) {
      mean[k].value = spread_of(values);
      mean[k].random = lines.front()->random;
      mean[k].verdict = lines.front()->verdict;
    } else {
      mean[k].value = bootstrap_mean(values, resamples, seed);
      mean[k].random = bootstrap_mean(randoms, resamples, seed);
      mean[k].verdict = verdict_over(kind, values, lines, resamples, seed);
    }
  }
  return mean;
}

}  // namespace fovea
