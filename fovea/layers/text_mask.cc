#include "fovea/layers/text_mask.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/layers/attention_cache.h"

namespace fovea {

int64_t first_position(const Pass& pass) {
  return pass.cache == nullptr ? 0 : pass.cache->length();
}

std::vector<int64_t> token_positions(const Pass& pass, int64_t tokens) {
  std::vector<int64_t> positions(static_cast<size_t>(tokens));
  std::iota(positions.begin(), positions.end(), first_position(pass));
  return positions;
}

std::shared_ptr<const ScoreRule> text_rule(const Pass& pass, float scale, const TextMask& mask) {
  auto rule = std::make_shared<ScoreRule>();
  rule->scale = scale;
  rule->mask.query_offset = first_position(pass);
  if (mask.causal) rule->mask.ahead = 0;
  if (mask.window) rule->mask.behind = *mask.window - 1;
  if (std::ranges::find(mask.attention, 0) != mask.attention.end()) {
    for (const int64_t valid : mask.attention) rule->mask.key_valid.push_back(valid != 0);
  }
  return rule;
}

void check_length(const Config& config, int64_t tokens, int64_t positions) {
  if (tokens > positions) {
    fail(ErrorKind::kInvalidArgument,
         "the text has {} tokens but this model has positions for {} ({}); shorten it or take a "
         "model with a longer context",
         tokens, positions, config.source());
  }
}

}  // namespace fovea
