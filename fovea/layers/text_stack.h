// A stack of blocks that reads a text: positions, masks and windows, which its layers share, and
// the blocks one after the other.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fovea/layers/norm_block.h"
#include "fovea/layers/rotary_embedding.h"

namespace fovea {

struct TextLayer {
  AnyBlock block;
  // How many positions away a query sees: to the left in causal stacks, to both sides in others.
  // None: everything.
  std::optional<int64_t> reach = {};
  std::optional<size_t> rotary = 0;  // which of the stack's rotary embeddings, if it has any
  std::vector<float> sinks = {};     // [heads], or empty (ScoreRule::sink_logit)
};

// What scores are made of.
struct TextScores {
  float scale = 1;
  bool causal = true;
  float soft_cap = 0;
  std::vector<RotaryEmbedding> rotary = {};
  RotaryPairing pairing = RotaryPairing::kHalves;
  // Makes the bias for the text of this pass; none: there is none.
  std::function<ScoreBias(const Pass& pass, int64_t tokens,
                          std::span<const int64_t> attention_mask)>
      bias = nullptr;
};

class TextStack {
 public:
  TextStack(TextScores scores, std::vector<TextLayer> layers)
      : scores_(std::move(scores)), layers_(std::move(layers)) {}

  int64_t layers() const { return static_cast<int64_t>(layers_.size()); }
  bool causal() const { return scores_.causal; }
  bool rotary() const { return !scores_.rotary.empty(); }
  // `attention_mask` is 0 for padding, or empty.
  Value operator()(const Pass& pass, Value x, std::span<const int64_t> attention_mask) const;

 private:
  std::shared_ptr<const ScoreRule> rule_for(const Pass& pass, const TextLayer& layer,
                                            int64_t tokens,
                                            std::span<const int64_t> attention_mask) const;

  TextScores scores_;
  std::vector<TextLayer> layers_;
};

}  // namespace fovea
