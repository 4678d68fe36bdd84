#include "fovea/layers/text_mask.h"

#include <algorithm>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/layers/attention_cache.h"

namespace fovea {
namespace {

std::vector<uint8_t> valid_keys(std::span<const int64_t> attention) {
  if (std::ranges::find(attention, 0) == attention.end()) return {};
  std::vector<uint8_t> valid;
  for (const int64_t entry : attention) valid.push_back(entry != 0);
  return valid;
}

}  // namespace

int64_t first_position(const Pass& pass) {
  return pass.cache == nullptr ? 0 : pass.cache->length();
}

std::vector<int64_t> token_positions(const Pass& pass, int64_t tokens) {
  if (!pass.texts.empty()) {
    std::vector<int64_t> positions;
    for (const int64_t length : pass.texts) {
      for (int64_t i = 0; i < length; ++i) positions.push_back(i);
    }
    return positions;
  }
  const int64_t hypotheses = pass.cache == nullptr ? 1 : pass.cache->hypotheses();
  const auto each = static_cast<size_t>(tokens / hypotheses);
  std::vector<int64_t> positions(static_cast<size_t>(tokens));
  for (size_t i = 0; i < positions.size(); ++i) {
    positions[i] = first_position(pass) + static_cast<int64_t>(i % each);
  }
  return positions;
}

std::vector<int64_t> places_behind_padding(std::span<const int64_t> ids, const Pass& pass,
                                           int64_t padding) {
  const int64_t first = first_position(pass);
  std::vector<int64_t> places = token_positions(pass, static_cast<int64_t>(ids.size()));
  int64_t count = first;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] == first) count = first;  // the next text begins
    places[i] = ids[i] == padding ? padding : ++count + padding;
  }
  return places;
}

std::shared_ptr<const ScoreRule> text_rule(const Pass& pass, float scale, const TextMask& mask) {
  auto rule = std::make_shared<ScoreRule>();
  rule->scale = scale;
  rule->mask.query_offset = first_position(pass);
  if (mask.causal) rule->mask.ahead = 0;
  if (mask.window) rule->mask.behind = *mask.window - 1;
  rule->mask.key_valid = valid_keys(mask.attention);
  return rule;
}

std::shared_ptr<const ScoreRule> source_rule(float scale, std::span<const int64_t> attention) {
  auto rule = std::make_shared<ScoreRule>();
  rule->scale = scale;
  rule->mask.key_valid = valid_keys(attention);
  return rule;
}

void check_length(const Config& config, int64_t tokens, int64_t positions, std::string_view what) {
  if (tokens > positions) {
    fail(ErrorKind::kInvalidArgument,
         "the {} has {} tokens but this model has positions for {} ({}); shorten it or take a "
         "model with a longer context",
         what, tokens, positions, config.source());
  }
}

}  // namespace fovea
