// Attention rollout (Abnar & Zuidema 2020, arXiv:2005.00928): how much of each input position
// reaches one output position through all layers, if each layer passes on its attention and the
// residual around it.
//
//   A^_l = (1 - residual) A_l + residual I, its rows divided by their sums      A_l: heads fused
//   R = A^_L ... A^_1,   the map is row `target` of R
//
// Only that row is computed, as a vector that passes from the last layer to the first: O(L N^2 d)
// time and O(N) memory plus a block of rows, never N x N.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/base/names.h"
#include "fovea/capture/run.h"

namespace fovea {

enum class HeadFusion { kMean, kMax, kMin };

inline constexpr NameTable<HeadFusion, 3> kHeadFusions{
    "fusion of heads",
    {{HeadFusion::kMean, "mean"}, {HeadFusion::kMax, "max"}, {HeadFusion::kMin, "min"}}};

struct RolloutOptions {
  double residual = 0.5;
  // Layers before this one are left out. With 1 it is the baseline of Chefer et al. 2021,
  // arXiv:2012.09838, which skips layer 0.
  int64_t start_layer = 0;
  HeadFusion fusion = HeadFusion::kMean;
  // This share of each fused layer, its smallest weights, is set to 0 before the residual is added;
  // of equal weights the first go first, row by row.
  double discard = 0;
};

using LayerRecords = std::vector<std::shared_ptr<const AttentionRecord>>;

// The run's records of one kind, by layer. Throws Error{kNotFound} if there are none.
LayerRecords layers_of(const Run& run, SiteKind kind);

// The rollout over all positions, special ones included; it sums to 1. `layers` are self-attentions
// over the same positions, first layer first; leave off the last ones to end at an inner layer. A
// row that sees nothing passes on itself. Throws Error{kInvalidArgument} if layers or options do
// not fit.
std::vector<double> rollout(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                            int64_t target, const RolloutOptions& options = {});

// Computes what the program vit-explain computes, mistakes included, to compare with pictures made
// by it.
struct VitExplainOptions {
  HeadFusion fusion = HeadFusion::kMax;  // its command line's default; mean in its class
  double discard = 0.9;
};
// Differs from rollout() with residual 0.5 in two ways. After the discard, column j, not row j, is
// divided by the sum of row j. And entry (0, 0) is never discarded, though it counts among the
// smallest. So rows do not sum to 1. vit-explain shows row 0 without position 0, divided by its
// largest value.
std::vector<double> vit_explain_rollout(
    std::span<const std::shared_ptr<const AttentionRecord>> layers, int64_t target = 0,
    const VitExplainOptions& options = {});

}  // namespace fovea
