#include "fovea/explain/alignment/alignment_score.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Both are sorted.
int64_t count_common(const Alignment& a, const Alignment& b) {
  int64_t count = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left < *right) {
      ++left;
    } else if (*right < *left) {
      ++right;
    } else {
      ++count, ++left, ++right;
    }
  }
  return count;
}

double ratio_or_one(int64_t part, int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void AlignmentScore::add(const GoldAlignment& gold, const Alignment& found) {
  ++sentences;
  links += static_cast<int64_t>(found.size());
  sure += static_cast<int64_t>(gold.sure.size());
  links_sure += count_common(found, gold.sure);
  links_possible += count_common(found, gold.possible);
}

double AlignmentScore::aer() const {
  return 1 - ratio_or_one(links_sure + links_possible, links + sure);
}

double AlignmentScore::precision() const {
  return ratio_or_one(links_possible, links);
}

double AlignmentScore::recall() const {
  return ratio_or_one(links_sure, sure);
}

AlignmentScore score_alignments(std::span<const GoldAlignment> gold,
                                std::span<const Alignment> found) {
  if (gold.size() != found.size()) {
    fail(ErrorKind::kInvalidArgument,
         "the gold alignment has {} sentences but the hypothesis has {}; they must go line by line",
         gold.size(), found.size());
  }
  AlignmentScore score;
  for (size_t i = 0; i < gold.size(); ++i) score.add(gold[i], found[i]);
  return score;
}

}  // namespace fovea
