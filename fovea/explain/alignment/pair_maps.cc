#include "fovea/explain/alignment/pair_maps.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

const Axis& axis_named(const Run& run, std::string_view name) {
  const Axis* axis = run.find_axis(name);
  if (axis == nullptr) {
    fail(ErrorKind::kNotFound,
         "the run of {} has no axis '{}'; alignment needs a source and a target text", run.model,
         name);
  }
  return *axis;
}

}  // namespace

const CrossLayer& PairMaps::layer(int number) const {
  const auto found = std::ranges::find(layers, number, &CrossLayer::layer);
  if (found == layers.end()) {
    fail(ErrorKind::kInvalidArgument, "there is no layer {} among the {} layers of cross-attention",
         number, layers.size());
  }
  return *found;
}

PairMaps pair_maps(const Run& run, int64_t prefix, Alignment anchors) {
  PairMaps pair;
  pair.layers = cross_layers(run);
  pair.source = PieceWords::of(axis_named(run, "source"));
  const Axis& target = axis_named(run, "target");
  if (prefix < 0 || prefix > static_cast<int64_t>(target.positions.size())) {
    fail(ErrorKind::kInvalidArgument, "the target has {} positions but begins after {}",
         target.positions.size(), prefix);
  }
  Axis tokens;
  tokens.positions.assign(target.positions.begin() + prefix, target.positions.end());
  pair.target = PieceWords::of(tokens);
  pair.prefix = prefix;
  pair.anchors = std::move(anchors);
  return pair;
}

}  // namespace fovea
