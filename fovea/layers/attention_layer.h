// Attention with its projections: it makes q, k and v from the input, and joins the heads again.
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

  // Heads divide the width among them, as in BERT and GPT-2. Throws Error{kBadFile} with both
  // numbers unless they divide it.
  static AttentionSizes equal_heads(const Config& config,
                                    std::string_view width_key = "hidden_size",
                                    std::string_view heads_key = "num_attention_heads");
  // The size of a head has a key of its own, as in T5. All heads together may be wider than the
  // model.
  static AttentionSizes own_head_size(const Config& config, std::string_view width_key,
                                      std::string_view heads_key, std::string_view head_dim_key);
  // Llama's form: num_key_value_heads and head_dim may be given too.
  static AttentionSizes grouped_heads(const Config& config);

  // 1 / sqrt(head_dim): the usual scale of scores.
  float scale() const;
};

// What differs between layers or inputs, but is not a weight. A block may run again after its stack
// is done (run_block.h), so this is held by value.
struct AttentionSetting {
  std::shared_ptr<const ScoreRule> rule;
  std::optional<RotaryTable> rotary = {};  // none: no rotary positions
  // What the caller adds to the norm of the result (Gemma). The record's block needs it; null:
  // nothing.
  const Value* added_later = nullptr;
  RotaryPairing pairing = RotaryPairing::kHalves;
  // The axes of rows and columns; empty: as the site's kind says (AttentionPlace::of).
  std::string_view row_axis = {};
  std::string_view col_axis = {};
  // Positions that are added to the inputs of q and k, but not of v, in every layer (DETR): [rows,
  // width] and [columns, width]. Both are the same in self-attention. Empty: none.
  Tensor query_positions = {};
  Tensor key_positions = {};
};

class AttentionLayer {
 public:
  // `projections` holds three (q, k, v), or one whose output is q, k and v side by side.
  AttentionLayer(AttentionSizes sizes, std::vector<ops::Linear> projections, ops::Linear output)
      : sizes_(sizes), projections_(std::move(projections)), output_(std::move(output)) {}

  // The one projection gives q, k and v group by group: for each key head the queries that share
  // it, the key and the value (GPT-NeoX, BLOOM, Falcon). Else all q, all k, all v.
  void set_grouped_projection() { grouped_ = true; }
  // Sets the norms of each head's q and k before rotation (Qwen 3, Gemma 3).
  void set_head_norms(Norm query, Norm key) {
    query_norm_ = std::move(query);
    key_norm_ = std::move(key);
  }
  // The same for norms of all heads together (OLMo 2), or whose weights differ from head to head
  // (Cohere).
  void set_row_norms(Norm query, Norm key) {
    query_row_norm_ = std::move(query);
    key_row_norm_ = std::move(key);
  }
  // Q, k and v are cut off at this size (MPT).
  void set_limit(float limit) { limit_ = limit; }
  // What W_O gives is multiplied by this before it is added to the residual (Granite).
  void set_output_scale(float scale) { output_scale_ = scale; }

  // Self-attention of `x` with W_O applied, plus `residual`. `norm` is what the caller applies to
  // the result, for the record's block; null in pre-norm blocks.
  Value operator()(const Pass& pass, SiteId site, const Value& x, const AttentionSetting& setting,
                   const Value& residual = {}, const Norm* norm = nullptr) const;

  // Cross-attention from `x` to `memory`, an encoder's states. A generation computes their keys and
  // values once. Needs three projections, and takes no rotary positions.
  Value cross(const Pass& pass, SiteId site, const Value& x, const Value& memory,
              const AttentionSetting& setting, const Value& residual = {},
              const Norm* norm = nullptr) const;

  const ops::Linear& output() const { return output_; }

 private:
  struct Projected {
    Value queries, keys, values;
  };
  // Leaves the values out if they are not wanted and have a projection of their own.
  Projected project(const Value& x, const AttentionSetting& setting, bool values) const;
  // Rows of all heads, before they are split.
  Projected project_rows(const Value& x, const AttentionSetting& setting, bool values) const;
  // Q, k and v of what the one projection gives, or of its bias as one row.
  Projected split_joined(const Value& joined) const;
  Value give_out(const Value& mixed, const Value& residual) const;
  AttentionPlace place_of(SiteId site, const AttentionSetting& setting) const;
  void add_biases(BlockContext& block) const;

  AttentionSizes sizes_;
  std::vector<ops::Linear> projections_;
  ops::Linear output_;
  std::optional<Norm> query_norm_, key_norm_;
  std::optional<Norm> query_row_norm_, key_row_norm_;
  bool grouped_ = false;
  float limit_ = 0;  // 0: none
  float output_scale_ = 1;
};

}  // namespace fovea
