// DETR's mask head (Carion et al. 2020, arXiv:2005.12872, section 4.4): it finds where each object
// query looks, and refines that by convolutions with the feature maps of the trunk.
#pragma once

#include <array>
#include <vector>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/cell_positions.h"
#include "fovea/ops/conv.h"

namespace fovea {

class MaskHead {
 public:
  // The trunk's feature maps without the last, from the coarsest to the finest.
  static constexpr size_t kFineMaps = 3;
  using FineMaps = std::array<Tensor, kFineMaps>;  // f32 [1, channels, height, width]

  // Loads "bbox_attention" and "mask_head". `channels` are those of the fine maps. Throws
  // Error{kBadFile} for sizes that no such head has.
  MaskHead(const LayerSource& source, const Config& config, const AttentionSizes& sizes,
           const std::array<int64_t, kFineMaps>& channels);

  // What the queries look at. The weights of all heads together sum to 1. Recorded as panoptic.0.
  struct Attention {
    Tensor queries, keys;  // [heads, queries or cells, head_dim]
    Tensor lse;            // f64 [queries]
    std::shared_ptr<const ScoreRule> rule;
  };
  // Attends from the decoder's states [queries, width] to the encoder's [cells, width].
  Attention attend(const Pass& pass, const Tensor& queries, const Tensor& memory,
                   const CellGrid& grid) const;

  // Logits [queries, height, width] at the size of the finest map. `features` is the projected
  // feature map, f32 [1, width, rows, columns]. Nothing here is recorded on a tape.
  Tensor masks(const Attention& attention, const Tensor& features, const FineMaps& fine) const;

 private:
  struct NormedConv {
    PackedConv convolution;
    Tensor weight, bias;  // the group norm's
  };
  struct Stage {
    PackedConv adapter;
    NormedConv refine;
  };
  static NormedConv load_normed(const LayerSource& convolution, const LayerSource& norm, int64_t in,
                                int64_t out);
  void normalize(const NormedConv& conv, Tensor& x) const;

  AttentionSizes sizes_;
  Activation activation_;
  ops::Linear query_, key_;
  // The first convolution sees the features, the same for all queries, and the maps. It is split
  // into a sum of two, so that the features' part is computed once.
  PackedConv of_features_, of_maps_;
  Tensor first_weight_, first_bias_;
  NormedConv second_;
  std::vector<Stage> stages_;
  PackedConv output_;
};

}  // namespace fovea
