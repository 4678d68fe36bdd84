// Turns soft weights into hard links: decides which cells of a map count as a link.
#pragma once

#include <string_view>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/base/names.h"
#include "fovea/explain/alignment/alignment.h"

namespace fovea {

// Weights between the units (pieces or words) of two sentences. A target unit also gives weight to
// special source positions, above all the end of sentence. That is kept beside the others, because
// it may win.
struct SoftAlignment {
  Matrix weights;                 // [target units, source units]
  std::vector<double> elsewhere;  // [target units]: the largest weight on one special position
};

enum class LinkMethod {
  kArgmax,     // each target unit's largest weight, the first of equals
  kThreshold,  // every weight of at least `threshold`
  kMutual,     // the largest of its row and of its column: one to one
};

struct LinkRule {
  LinkMethod method = LinkMethod::kArgmax;
  double threshold = 0.2;        // kThreshold only; above 0
  bool specials_compete = true;  // kArgmax, kMutual: no link if a special position has more
};

inline constexpr NameTable<LinkMethod, 3> kLinkMethods{"way to choose links",
                                                       {{LinkMethod::kArgmax, "argmax"},
                                                        {LinkMethod::kThreshold, "threshold"},
                                                        {LinkMethod::kMutual, "mutual"}}};
inline std::string_view to_string(LinkMethod method) {
  return kLinkMethods.name_of(method);
}

// A weight of 0 is never a link. Throws Error{kInvalidArgument} on a threshold of 0 or less, or if
// `elsewhere` does not fit.
Alignment hard_links(const SoftAlignment& soft, const LinkRule& rule = {});

}  // namespace fovea
