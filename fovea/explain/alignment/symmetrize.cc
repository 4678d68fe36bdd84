#include "fovea/explain/alignment/symmetrize.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace fovea {
namespace {

constexpr std::array<Link, 8> kLiltNeighbours = {
    {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 1}}};
constexpr std::array<Link, 8> kMosesNeighbours = {
    {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}}};

// Which words of a link must be without one.
enum class Uncovered { kBoth, kEither };

// The links chosen so far, in their order, and the words they cover.
class Growing {
 public:
  explicit Growing(const Alignment& links) {
    for (const Link& link : links) add(link);
  }

  bool takes(const Link& link, Uncovered wanted) const {
    const bool source = sources_.count(link.source) > 0;
    const bool target = targets_.count(link.target) > 0;
    return wanted == Uncovered::kBoth ? !source && !target : !source || !target;
  }
  void add(const Link& link) {
    links_.insert(link);
    sources_.insert(link.source);
    targets_.insert(link.target);
  }

  // A std::set shows a link that is added ahead of the walk to the walk itself, as both programs
  // do.
  void grow(const Alignment& allowed, const std::array<Link, 8>& neighbours, Uncovered wanted) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Link& link : links_) {
        for (const Link& step : neighbours) {
          const Link next{link.source + step.source, link.target + step.target};
          if (!takes(next, wanted) || !std::binary_search(allowed.begin(), allowed.end(), next)) {
            continue;
          }
          add(next);
          changed = true;
        }
      }
    }
  }
  void finish(const Alignment& candidates, Uncovered wanted) {
    for (const Link& link : candidates) {
      if (takes(link, wanted)) add(link);
    }
  }

  Alignment links() const { return {links_.begin(), links_.end()}; }

 private:
  std::set<Link> links_;
  std::set<int64_t> sources_;
  std::set<int64_t> targets_;
};

Alignment common(const Alignment& a, const Alignment& b) {
  Alignment both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

Alignment either(const Alignment& a, const Alignment& b) {
  Alignment all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

Alignment lilt(const Alignment& forward, const Alignment& backward, bool finish) {
  Growing growing(common(forward, backward));
  growing.grow(either(forward, backward), kLiltNeighbours, Uncovered::kBoth);
  if (finish) {
    growing.finish(forward, Uncovered::kBoth);
    growing.finish(backward, Uncovered::kBoth);
  }
  return growing.links();
}

// In target-source links, so that they are visited by target.
Alignment moses(const Alignment& forward, const Alignment& backward, Symmetrization how) {
  const Alignment first = transposed(forward);
  const Alignment second = transposed(backward);
  Growing growing(common(first, second));
  growing.grow(either(first, second), kMosesNeighbours, Uncovered::kEither);
  if (how != Symmetrization::kMosesGrowDiag) {
    const Uncovered wanted =
        how == Symmetrization::kMosesGrowDiagFinalAnd ? Uncovered::kBoth : Uncovered::kEither;
    growing.finish(first, wanted);
    growing.finish(second, wanted);
  }
  return transposed(growing.links());
}

}  // namespace

Alignment symmetrize(const Alignment& forward, const Alignment& backward, Symmetrization how) {
  switch (how) {
    case Symmetrization::kIntersection:
      return common(forward, backward);
    case Symmetrization::kUnion:
      return either(forward, backward);
    case Symmetrization::kLiltGrowDiag:
      return lilt(forward, backward, false);
    case Symmetrization::kLiltGrowDiagFinal:
      return lilt(forward, backward, true);
    case Symmetrization::kMosesGrowDiag:
    case Symmetrization::kMosesGrowDiagFinal:
    case Symmetrization::kMosesGrowDiagFinalAnd:
      break;
  }
  return moses(forward, backward, how);
}

}  // namespace fovea
