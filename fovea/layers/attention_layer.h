// Attention with its projections: q, k and v out of the input, and the heads joined again.
#pragma once

#include <optional>
#include <vector>

#include "fovea/kernels/rotary.h"
#include "fovea/layers/attend.h"
#include "fovea/layers/norm.h"

namespace fovea {

struct AttentionSizes {
  int64_t width = 0;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t head_dim = 0;

  // Heads that share the width, as in BERT and GPT-2. Throws Error{kBadFile} with both numbers
  // unless they divide it.
  static AttentionSizes equal_heads(const Config& config,
                                    std::string_view width_key = "hidden_size",
                                    std::string_view heads_key = "num_attention_heads");
  // Heads whose size has a key of its own, as in T5: together they may be wider than the model.
  static AttentionSizes own_head_size(const Config& config, std::string_view width_key,
                                      std::string_view heads_key, std::string_view head_dim_key);
  // Llama's form: num_key_value_heads and head_dim may be given too.
  static AttentionSizes grouped_heads(const Config& config);

  // 1 / sqrt(head_dim), what scores are usually multiplied by.
  float scale() const;
};

// What changes from layer to layer or with the input, but is no weight. Held by value, for a block
// may be run again after the stack is done (run_block.h).
struct AttentionSetting {
  std::shared_ptr<const ScoreRule> rule;
  std::optional<RotaryTable> rotary = {};  // none: no rotary positions
  // What the caller adds to the norm of the result (Gemma), for the record's block; null: nothing.
  const Value* added_later = nullptr;
  RotaryPairing pairing = RotaryPairing::kHalves;
  // What rows and columns count along; empty: as the site's kind says (AttentionPlace::of).
  std::string_view row_axis = {};
  std::string_view col_axis = {};
  // Added to what q and k are made of, never to what v is: DETR's way with positions, in every
  // layer. Empty: nothing. [rows, width] and [columns, width]; in self-attention both are the same.
  Tensor query_positions = {};
  Tensor key_positions = {};
};

class AttentionLayer {
 public:
  // `projections` is either q, k and v or one for all three, whose output is q, k, v side by side.
  AttentionLayer(AttentionSizes sizes, std::vector<ops::Linear> projections, ops::Linear output)
      : sizes_(sizes), projections_(std::move(projections)), output_(std::move(output)) {}

  // Norms of each head's q and k before rotation (Qwen 3, Gemma 3).
  void set_head_norms(Norm query, Norm key) {
    query_norm_ = std::move(query);
    key_norm_ = std::move(key);
  }

  // Self-attention of `x`, W_O applied, plus `residual`. `norm` is what the caller applies to that,
  // for the record's block: null in pre-norm blocks.
  Value operator()(const Pass& pass, SiteId site, const Value& x, const AttentionSetting& setting,
                   const Value& residual = {}, const Norm* norm = nullptr) const;

  // The same from `x` to `memory`, the states of an encoder; in a generation their keys and values
  // are computed once. Needs three projections, and takes no rotary positions.
  Value cross(const Pass& pass, SiteId site, const Value& x, const Value& memory,
              const AttentionSetting& setting, const Value& residual = {},
              const Norm* norm = nullptr) const;

  const ops::Linear& output() const { return output_; }

 private:
  struct Projected {
    Value queries, keys, values;
  };
  // Without values if they are not wanted and have a projection of their own.
  Projected project(const Value& x, const AttentionSetting& setting, bool values) const;
  AttentionPlace place_of(SiteId site, const AttentionSetting& setting) const;
  void add_biases(BlockContext& block) const;

  AttentionSizes sizes_;
  std::vector<ops::Linear> projections_;
  ops::Linear output_;
  std::optional<Norm> query_norm_, key_norm_;
};

}  // namespace fovea
