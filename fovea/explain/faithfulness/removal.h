// What a model says when positions of its input are taken away.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/capture/subject.h"
#include "fovea/explain/target.h"

namespace fovea {

enum class Removal {
  kBlank,  // the mask token, or the mean colour of pictures, in its place
  kHide,   // nobody may attend to it; what it says to itself stays
};
std::string_view to_string(Removal removal);  // "blank", "hide"

// The answer that is watched while positions go.
struct WatchedAnswer {
  const Target& target;
  const Target* against = nullptr;  // rather than this one
  TargetMeasure measure = TargetMeasure::kProbability;
};

// Counts positions of an axis without its special tokens, which are never taken away. Runs the
// model once for each set of them, however often it is asked for.
class RemovalRuns {
 public:
  // All must outlive it, but for the axis.
  RemovalRuns(Subject& subject, const WatchedAnswer& answer, const Axis& axis, Removal how);

  // Those that can be taken away, by their place on the axis.
  const std::vector<int64_t>& positions() const { return positions_; }
  // The answer's value, where taken[i] says that positions()[i] is gone.
  double value_without(const std::vector<bool>& taken);
  double clean_value() { return value_without(std::vector<bool>(positions_.size())); }
  int64_t runs() const { return static_cast<int64_t>(known_.size()); }

 private:
  Subject& subject_;
  WatchedAnswer answer_;
  std::string axis_;
  Removal how_;
  std::vector<int64_t> positions_;
  std::unordered_map<std::vector<bool>, double> known_;
};

}  // namespace fovea
