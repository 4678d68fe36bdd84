#include "fovea/layers/post_norm_block.h"

namespace fovea {

Value PostNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                                const AttentionSetting& setting) const {
  const Value attended = attention_norm_(attention_(pass, site, x, setting, x, &attention_norm_));
  return output_norm_(feed_forward_(attended, attended));
}

}  // namespace fovea
