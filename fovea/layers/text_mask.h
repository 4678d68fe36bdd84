// Masks and positions of token sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fovea/attention/score_rule.h"
#include "fovea/checkpoint/config.h"
#include "fovea/layers/pass.h"

namespace fovea {

// The place of this pass's first token: 0, or how many positions came before it.
int64_t first_position(const Pass& pass);
// first_position, first_position + 1, ... With several hypotheses or texts, each has its own such
// sequence, one after the other.
std::vector<int64_t> token_positions(const Pass& pass, int64_t tokens);

// RoBERTa's: they count the tokens that are not padding and begin behind the padding's own number,
// which padding keeps.
std::vector<int64_t> places_behind_padding(std::span<const int64_t> ids, const Pass& pass,
                                           int64_t padding);

struct TextMask {
  bool causal = false;
  std::optional<int64_t> window;       // how many keys a query sees, its own included
  std::span<const int64_t> attention;  // 0 for padding; empty: none
};
// The rule: `scale` q . k under that mask.
std::shared_ptr<const ScoreRule> text_rule(const Pass& pass, float scale, const TextMask& mask);

// The rule for cross-attention to a source, which every step of the target sees whole.
std::shared_ptr<const ScoreRule> source_rule(float scale, std::span<const int64_t> attention);

// Throws Error{kInvalidArgument} with both numbers if the text, or whatever `what` calls it, is
// longer than the table of positions.
void check_length(const Config& config, int64_t tokens, int64_t positions,
                  std::string_view what = "text");

}  // namespace fovea
