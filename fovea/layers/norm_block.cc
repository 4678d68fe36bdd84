#include "fovea/layers/norm_block.h"

#include "fovea/layers/run_block.h"
#include "fovea/ops/elementwise.h"

namespace fovea {
namespace {

Value norm_if_any(const std::optional<Norm>& norm, const Value& x) {
  return norm ? (*norm)(x) : x;
}

}  // namespace

Value PreNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                               const AttentionSetting& setting) const {
  const Value read = norm_if_any(attention_norm_, x);
  const Value attended = attention_(pass, site, read, setting, adds_to_norms_ ? read : x);
  const Value normed = output_norm_(attended);
  return feed(feed_forward_, pass, site, normed, adds_to_norms_ ? normed : attended,
              known_output(pass));
}

Value PostNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                                const AttentionSetting& setting) const {
  const Value attended = attention_norm_(attention_(pass, site, x, setting, x, &attention_norm_));
  return output_norm_(feed(feed_forward_, pass, site, attended, attended));
}

Value ParallelBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                                const AttentionSetting& setting) const {
  const Value read = attention_norm_(x);
  const Value attended = attention_(pass, site, read, setting, x);
  return feed(feed_forward_, pass, site, feed_forward_norm_ ? (*feed_forward_norm_)(x) : read,
              attended, known_output(pass));
}

Value ResultNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                                  AttentionSetting setting) const {
  setting.added_later = &x;
  const Norm& after = attention_norms_.after;
  const Value attended =
      attention_(pass, site, norm_if_any(attention_norms_.before, x), setting, {}, &after);
  const Value y = ops::add(x, after(attended));
  const Value fed = feed(feed_forward_, pass, site, norm_if_any(feed_forward_norms_.before, y));
  return ops::add(y, feed_forward_norms_.after(fed));
}

}  // namespace fovea
