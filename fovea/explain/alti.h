// ALTI (Ferrando et al. 2022, arXiv:2203.04212): what share each position has in each row of a
// block, by how near the vector that it brings is to what the block gives (explain/block_sum.h,
// norm and residual in it), and the product of these shares over all layers.
//
//   c_ij = max(0, ||y_i|| - ||y_i - T_ij||) / sum over j      T_ii has the residual in it
//
// The L1 norm of the paper needs the vectors themselves, N^2 H d of them tile by tile, so there is
// a limit of positions. Between blocks positions do not mix, so feed-forward parts count as 1.
#pragma once

#include <span>

#include "fovea/attention/matrix.h"
#include "fovea/explain/block_sum.h"
#include "fovea/explain/rollout.h"

namespace fovea {

inline constexpr int64_t kMostAltiPositions = 1024;

enum class AltiDistance { kL1, kL2 };

// c [rows, cols]; of cross-attention [rows, cols + 1], the last column the residual's. Rows sum to
// 1: one that is far from everything counts as its own residual. Throws Error{kInvalidArgument} as
// BlockSum does and Error{kUnsupported} above the limit.
Matrix alti_shares(const std::shared_ptr<const AttentionRecord>& record,
                   AltiDistance distance = AltiDistance::kL1);

// Row `target` of c_L ... c_1 for self-attentions over the same positions, first layer first; sums
// to 1. Throws as alti_shares, and Error{kInvalidArgument} if layers or target do not fit.
std::vector<double> alti(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                         int64_t target, AltiDistance distance = AltiDistance::kL1);

// ALTI+ (Ferrando et al. 2022, arXiv:2205.11631): of one row of a decoder, the shares of the source
// and of the target read so far. A decoder layer first mixes the target by its self-attention, then
// keeps the residual's share of that beside the source's shares.
struct SourceAndTarget {
  std::vector<double> source;
  std::vector<double> target;  // together they sum to 1
};
struct EncoderDecoderLayers {
  LayerRecords encoder;       // may be empty: shares are then of the encoder's states
  LayerRecords decoder_self;  // as many as cross
  LayerRecords cross;
};
SourceAndTarget alti_plus(const EncoderDecoderLayers& layers, int64_t step,
                          AltiDistance distance = AltiDistance::kL1);

}  // namespace fovea
