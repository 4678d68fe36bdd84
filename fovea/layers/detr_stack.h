// DETR's encoder and decoder: blocks as BART's, positions added to the inputs of q and k in every
// layer (Carion et al. 2020, arXiv:2005.12872).
#pragma once

#include <optional>
#include <vector>

#include "fovea/layers/bart_stack.h"
#include "fovea/layers/cell_positions.h"

namespace fovea {

// A feature map as the stacks take it.
struct CellStates {
  Value states;  // [cells, width]
  Tensor positions;
  CellGrid grid;
};

struct DetrStackOptions {
  bool norm_first = false;    // and a norm after the encoder: Table Transformer
  bool norm_between = false;  // the decoder's last norm after each of its blocks too
};

class DetrEncoder {
 public:
  DetrEncoder(const LayerSource& source, const Config& config, const DetrStackOptions& options);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  Value operator()(const Pass& pass, const CellStates& cells) const;

 private:
  AttentionSizes sizes_;
  std::vector<BartEncoderBlock> blocks_;
  std::optional<Norm> norm_;
};

class DetrDecoder {
 public:
  DetrDecoder(const LayerSource& source, const Config& config, const DetrStackOptions& options);

  const AttentionSizes& sizes() const { return sizes_; }
  int64_t layers() const { return static_cast<int64_t>(blocks_.size()); }
  // What the object queries become, [queries, width]: they start at 0 and differ by their learned
  // positions, f32 [queries, width]. `memory` holds the encoder's states.
  Value operator()(const Pass& pass, const Tensor& query_positions, const CellStates& memory) const;

 private:
  AttentionSizes sizes_;
  std::vector<BartDecoderBlock> blocks_;
  Norm norm_;
  bool norm_between_;
};

}  // namespace fovea
