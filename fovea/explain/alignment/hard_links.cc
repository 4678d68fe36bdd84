#include "fovea/explain/alignment/hard_links.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The first of the largest weights above 0 along a row or column; -1 if there is none.
template <typename At>
int64_t best(int64_t count, const At& at) {
  int64_t found = -1;
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (at(i) > largest) {
      largest = at(i);
      found = i;
    }
  }
  return found;
}

// For each target the source it takes, or -1.
std::vector<int64_t> row_choices(const SoftAlignment& soft, bool specials_compete) {
  std::vector<int64_t> choices;
  for (int64_t target = 0; target < soft.weights.rows(); ++target) {
    const auto row = soft.weights.row(target);
    int64_t source =
        best(soft.weights.cols(), [&](int64_t j) { return row[static_cast<size_t>(j)]; });
    const double elsewhere = soft.elsewhere[static_cast<size_t>(target)];
    if (source >= 0 && specials_compete && elsewhere > row[static_cast<size_t>(source)]) {
      source = -1;
    }
    choices.push_back(source);
  }
  return choices;
}

Alignment above_threshold(const Matrix& weights, double threshold) {
  if (!(threshold > 0)) {
    fail(ErrorKind::kInvalidArgument,
         "the threshold is {} but must be above 0, or every word would be linked to every other",
         threshold);
  }
  Alignment links;
  for (int64_t source = 0; source < weights.cols(); ++source) {
    for (int64_t target = 0; target < weights.rows(); ++target) {
      if (weights(target, source) >= threshold) links.push_back({source, target});
    }
  }
  return links;
}

}  // namespace

Alignment hard_links(const SoftAlignment& soft, const LinkRule& rule) {
  const Matrix& weights = soft.weights;
  if (static_cast<int64_t>(soft.elsewhere.size()) != weights.rows()) {
    fail(ErrorKind::kInvalidArgument,
         "the weights have {} rows but {} weights of special positions are given", weights.rows(),
         soft.elsewhere.size());
  }
  if (rule.method == LinkMethod::kThreshold) return above_threshold(weights, rule.threshold);
  const std::vector<int64_t> choices = row_choices(soft, rule.specials_compete);
  std::vector<Link> links;
  for (int64_t target = 0; target < weights.rows(); ++target) {
    const int64_t source = choices[static_cast<size_t>(target)];
    if (source < 0) continue;
    if (rule.method == LinkMethod::kMutual &&
        best(weights.rows(), [&](int64_t t) { return weights(t, source); }) != target) {
      continue;
    }
    links.push_back({source, target});
  }
  return sorted_links(std::move(links));
}

}  // namespace fovea
