// ALTI (Ferrando et al. 2022, arXiv:2203.04212): what share each position has in each row of a
// block. A position's share is larger the nearer its vector T_ij is to the block's result y_i
// (explain/block_sum.h, norm and residual included). The shares of all layers are then multiplied.
//
//   c_ij = max(0, ||y_i|| - ||y_i - T_ij||) / sum over j      T_ii has the residual in it
//
// The paper's L1 norm needs the vectors themselves: N^2 H d numbers, computed tile by tile. So
// there is a limit of positions. Feed-forward parts do not mix positions, so they count as 1.
#pragma once

#include <span>

#include "fovea/attention/matrix.h"
#include "fovea/base/names.h"
#include "fovea/explain/block_sum.h"
#include "fovea/explain/rollout.h"

namespace fovea {

inline constexpr int64_t kMostAltiPositions = 1024;

enum class AltiDistance { kL1, kL2 };
inline constexpr NameTable<AltiDistance, 2> kAltiDistances{
    "distance", {{AltiDistance::kL1, "l1"}, {AltiDistance::kL2, "l2"}}};

// The shares c [rows, cols]. In cross-attention c is [rows, cols + 1]; its last column is the
// residual's. Rows sum to 1; a row that is far from every vector counts as its own residual. Throws
// Error{kInvalidArgument} as BlockSum does, and Error{kUnsupported} above the limit.
Matrix alti_shares(const std::shared_ptr<const AttentionRecord>& record,
                   AltiDistance distance = AltiDistance::kL1);

// Row `target` of c_L ... c_1, which sums to 1. `layers` are self-attentions over the same
// positions, first layer first. Throws as alti_shares does, and Error{kInvalidArgument} if layers
// or target do not fit.
std::vector<double> alti(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                         int64_t target, AltiDistance distance = AltiDistance::kL1);

// ALTI+ (Ferrando et al. 2022, arXiv:2205.11631): the shares that the source and the target read so
// far have in one row of a decoder. In each decoder layer, self-attention first mixes the target;
// cross-attention then keeps the residual's share of that and adds the shares of the source.
struct SourceAndTarget {
  std::vector<double> source;
  std::vector<double> target;  // together they sum to 1
};
struct EncoderDecoderLayers {
  LayerRecords encoder;       // may be empty: then the encoder's states are scored
  LayerRecords decoder_self;  // as many as cross
  LayerRecords cross;
};
SourceAndTarget alti_plus(const EncoderDecoderLayers& layers, int64_t step,
                          AltiDistance distance = AltiDistance::kL1);

}  // namespace fovea
