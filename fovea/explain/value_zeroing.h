// Value zeroing (Mohebbi et al. 2023, arXiv:2301.12971): how much a layer's output at position i
// turns if the value of position j is 0 in that layer alone. All weights are kept.
//
//   c_ij = 1 - cos(output_i, output_i without the value of j), rows divided by their sums
//   over layers: the product c_L ... c_1; the residual is in the outputs already
//
// A layer's output is what enters the next layer; for the last layer, the model's states after its
// final norm. The model runs once for each position and layer.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/capture/subject.h"

namespace fovea {

// The method keeps a matrix of this side.
inline constexpr int64_t kMostValueZeroingPositions = 1024;

// Which self-attention, how many layers, and how many positions.
struct ValueZeroingStack {
  SiteKind kind = SiteKind::kSelf;
  int64_t layers = 0;
  int64_t positions = 0;
};

// The matrix c of one layer. A row that no value turns belongs to its own position alone. Throws
// Error{kInvalidArgument} if there is no such layer, and Error{kUnsupported} above the limit or if
// the subject does not keep that stack's states.
Matrix value_zeroing_layer(Subject& subject, const ValueZeroingStack& stack, int64_t layer);

// Row `target` of the product over all layers; sums to 1.
std::vector<double> value_zeroing(Subject& subject, const ValueZeroingStack& stack, int64_t target);

}  // namespace fovea
