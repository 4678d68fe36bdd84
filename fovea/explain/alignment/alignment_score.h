// How good an alignment is against gold links (Och & Ney 2003, A Systematic Comparison of Various
// Statistical Alignment Models), summed over all links of a corpus, not averaged over sentences:
//
//   AER = 1 - (|A n S| + |A n P|) / (|A| + |S|)    precision = |A n P| / |A|
//                                                  recall    = |A n S| / |S|
//
// with A the links found, S the sure and P the possible ones, S a part of P.
#pragma once

#include <span>

#include "fovea/explain/alignment/alignment.h"

namespace fovea {

// Counts of any number of sentences; two scores add up.
struct AlignmentScore {
  int64_t sentences = 0;
  int64_t links = 0;           // |A|
  int64_t sure = 0;            // |S|
  int64_t links_sure = 0;      // |A n S|
  int64_t links_possible = 0;  // |A n P|

  void add(const GoldAlignment& gold, const Alignment& found);

  // If there is nothing to divide by, nothing is wrong: precision and recall are 1, AER is 0.
  double aer() const;
  double precision() const;
  double recall() const;

  bool operator==(const AlignmentScore&) const = default;
};

// Scores whole files. Throws Error{kInvalidArgument} unless both have as many sentences.
AlignmentScore score_alignments(std::span<const GoldAlignment> gold,
                                std::span<const Alignment> found);

}  // namespace fovea
