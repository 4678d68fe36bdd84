// DETR's encoder and decoder (Carion et al. 2020, arXiv:2005.12872). Their blocks are BART's, but
// every layer adds positions to the inputs of q and k.
#pragma once

#include <optional>
#include <vector>

#include "fovea/layers/bart_stack.h"
#include "fovea/layers/cell_positions.h"

namespace fovea {

// A feature map, as the stacks read it.
struct CellStates {
  Value states;  // [cells, width]
  Tensor positions;
  CellGrid grid;
};

struct DetrStackOptions {
  bool norm_first = false;    // and a norm after the encoder: Table Transformer
  bool norm_between = false;  // the decoder's last norm also follows each block
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
  // The states of the object queries, [queries, width]. They start at 0; their learned positions,
  // f32 [queries, width], tell them apart. `memory` holds the encoder's states.
  Value operator()(const Pass& pass, const Tensor& query_positions, const CellStates& memory) const;

 private:
  AttentionSizes sizes_;
  std::vector<BartDecoderBlock> blocks_;
  Norm norm_;
  bool norm_between_;
};

}  // namespace fovea
