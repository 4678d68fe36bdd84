#include "fovea/layers/text_stack.h"

#include <map>

#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"

namespace fovea {

std::shared_ptr<const ScoreRule> TextStack::rule_for(
    const Pass& pass, const TextLayer& layer, int64_t tokens,
    std::span<const int64_t> attention_mask) const {
  auto rule = std::make_shared<ScoreRule>(
      *text_rule(pass, scores_.scale, {.causal = scores_.causal, .attention = attention_mask}));
  if (layer.reach) {
    rule->mask.behind = layer.reach;
    if (!scores_.causal) rule->mask.ahead = layer.reach;
  }
  rule->soft_cap = scores_.soft_cap;
  rule->sink_logit = layer.sinks;
  if (scores_.bias) rule->bias = scores_.bias(pass, tokens, attention_mask);
  return rule;
}

Value TextStack::operator()(const Pass& pass, Value x,
                            std::span<const int64_t> attention_mask) const {
  const int64_t tokens = x.shape()[0];
  const std::vector<int64_t> positions = token_positions(pass, tokens);
  std::vector<RotaryTable> tables;
  for (const RotaryEmbedding& rotary : scores_.rotary) tables.push_back(rotary.table(positions));
  // One rule for all layers that look equally far; sinks belong to one layer.
  std::map<std::optional<int64_t>, std::shared_ptr<const ScoreRule>> rules;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const TextLayer& layer = layers_[i];
    auto& rule = rules[layer.reach];
    if (rule == nullptr || !layer.sinks.empty()) {
      rule = rule_for(pass, layer, tokens, attention_mask);
    }
    AttentionSetting setting{.rule = rule, .pairing = scores_.pairing};
    if (layer.rotary && !tables.empty()) setting.rotary = tables.at(*layer.rotary);
    const SiteId site{SiteKind::kSelf, static_cast<int>(i)};
    x = run_block(pass, x, [&layer, site, setting](const Pass& run, const Value& in) {
      return std::visit([&](const auto& block) { return block(run, site, in, setting); },
                        layer.block);
    });
  }
  return x;
}

}  // namespace fovea
