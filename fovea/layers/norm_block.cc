#include "fovea/layers/norm_block.h"

#include "fovea/layers/run_block.h"

namespace fovea {

Value PreNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                               const AttentionSetting& setting) const {
  const Value attended = attention_(pass, site, attention_norm_(x), setting, x);
  return std::visit(
      [&](const auto& part) { return part(output_norm_(attended), attended, known_output(pass)); },
      feed_forward_);
}

Value PostNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                                const AttentionSetting& setting) const {
  const Value attended = attention_norm_(attention_(pass, site, x, setting, x, &attention_norm_));
  return output_norm_(feed_forward_(attended, attended));
}

}  // namespace fovea
