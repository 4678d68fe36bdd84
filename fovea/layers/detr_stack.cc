#include "fovea/layers/detr_stack.h"

#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"

namespace fovea {
namespace {

constexpr double kDetrNormEpsilon = 1e-5;  // no configuration says another

BartBlockOptions block_options(const DetrStackOptions& options) {
  return {.norm_first = options.norm_first, .activation = "relu"};
}

}  // namespace

DetrEncoder::DetrEncoder(const LayerSource& source, const Config& config,
                         const DetrStackOptions& options)
    : sizes_(AttentionSizes::equal_heads(config, "d_model", "encoder_attention_heads")) {
  const int64_t layers = layer_count(config, "encoder_layers");
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.emplace_back(source["layers"][i], config, sizes_, block_options(options));
  }
  if (options.norm_first) norm_ = Norm::layer(source["layernorm"], sizes_.width, kDetrNormEpsilon);
}

Value DetrEncoder::operator()(const Pass& pass, const CellStates& cells) const {
  const AttentionSetting setting{.rule = source_rule(sizes_.scale(), cells.grid.valid),
                                 .row_axis = "cells",
                                 .col_axis = "cells",
                                 .query_positions = cells.positions,
                                 .key_positions = cells.positions};
  const Value states = run_blocks(blocks_, pass, SiteKind::kEncoderSelf, cells.states, setting);
  return norm_ ? (*norm_)(states) : states;
}

DetrDecoder::DetrDecoder(const LayerSource& source, const Config& config,
                         const DetrStackOptions& options)
    : sizes_(AttentionSizes::equal_heads(config, "d_model", "decoder_attention_heads")),
      norm_(Norm::layer(source["layernorm"], sizes_.width, kDetrNormEpsilon)),
      norm_between_(options.norm_between) {
  const int64_t layers = layer_count(config, "decoder_layers");
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.emplace_back(source["layers"][i], config, sizes_, block_options(options));
  }
}

Value DetrDecoder::operator()(const Pass& pass, const Tensor& query_positions,
                              const CellStates& memory) const {
  const AttentionSetting self{.rule = source_rule(sizes_.scale(), {}),
                              .row_axis = "queries",
                              .col_axis = "queries",
                              .query_positions = query_positions,
                              .key_positions = query_positions};
  const AttentionSetting cross{.rule = source_rule(sizes_.scale(), memory.grid.valid),
                               .row_axis = "queries",
                               .col_axis = "cells",
                               .query_positions = query_positions,
                               .key_positions = memory.positions};
  Value x = Tensor(query_positions.shape());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    x = run_block(pass, x, memory.states,
                  [block = &blocks_[i], i, self, cross](const Pass& run, const Value& in,
                                                        const Value& states) {
                    return (*block)(run, static_cast<int>(i), in, states, self, cross);
                  });
    if (norm_between_) x = norm_(x);
  }
  return norm_(x);
}

}  // namespace fovea
