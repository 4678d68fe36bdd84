// Runs a model while positions of its input are taken away.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/capture/subject.h"
#include "fovea/explain/target.h"

namespace fovea {

enum class Removal {
  kBlank,  // a mask token, or a picture's mean colour, takes its place
  kHide,   // no position may attend to it; its own residual stays
};
std::string_view to_string(Removal removal);  // "blank", "hide"

// The answer that is watched while positions go.
struct WatchedAnswer {
  const Target& target;
  const Target* against = nullptr;  // rather than this one
  TargetMeasure measure = TargetMeasure::kProbability;
};

// Takes away positions of an axis; never its special tokens. Runs the model once for each set of
// positions, however often that set is asked for.
class RemovalRuns {
 public:
  // The axis may go; everything else must outlive this.
  RemovalRuns(Subject& subject, const WatchedAnswer& answer, const Axis& axis, Removal how);

  // The positions that can be taken away, by their place on the axis.
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
