// Two alignments of the same sentence pair, one from each direction, made into one.
//
// The published programs that are called grow-diag differ, and by points of AER, so each is named
// after its source (lilt/alignment-scripts; symal of the Moses decoder):
//
//   lilt   adds a neighbour of a link if *both* its words are without a link;
//   moses  adds it if *at least one* of its words is.
//
// Both begin with the intersection and add links of the union only, until nothing changes. What is
// added covers words, so the order matters. lilt visits links by source, then target, and looks
// around each: before, left, after, right, then the corners (-1,1) (-1,-1) (1,-1) (1,1) as (source,
// target). Moses visits them by target, then source, links that were just added ahead of it
// included: as (target, source) the four sides as above, then (-1,-1) (-1,1) (1,-1) (1,1).
//
// "final" then adds links that only one direction has, the forward one first, where words are
// still without a link: both words (lilt; Moses' final-and), or at least one (Moses' final).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/names.h"
#include "fovea/explain/alignment/alignment.h"

namespace fovea {

enum class Symmetrization {
  kIntersection,
  kUnion,
  kLiltGrowDiag,
  kLiltGrowDiagFinal,
  kMosesGrowDiag,
  kMosesGrowDiagFinal,
  kMosesGrowDiagFinalAnd,
};

inline constexpr NameTable<Symmetrization, 7> kSymmetrizations{
    "symmetrisation",
    {{Symmetrization::kIntersection, "intersection"},
     {Symmetrization::kUnion, "union"},
     {Symmetrization::kLiltGrowDiag, "lilt-grow-diag"},
     {Symmetrization::kLiltGrowDiagFinal, "lilt-grow-diag-final"},
     {Symmetrization::kMosesGrowDiag, "moses-grow-diag"},
     {Symmetrization::kMosesGrowDiagFinal, "moses-grow-diag-final"},
     {Symmetrization::kMosesGrowDiagFinalAnd, "moses-grow-diag-final-and"}}};
inline std::string_view to_string(Symmetrization how) {
  return kSymmetrizations.name_of(how);
}
inline std::vector<std::string> symmetrization_names() {
  return kSymmetrizations.names();
}

// Both are source-target links; `backward` comes from the opposite direction, transposed() already.
Alignment symmetrize(const Alignment& forward, const Alignment& backward, Symmetrization how);

}  // namespace fovea
