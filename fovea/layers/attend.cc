#include "fovea/layers/attend.h"

#include "fovea/layers/attention_cache.h"
#include "fovea/ops/layout.h"

namespace fovea {

AttentionPlace AttentionPlace::of(SiteId site) {
  switch (site.kind) {
    case SiteKind::kEncoderSelf:
      return {.site = site, .row_axis = "source", .col_axis = "source"};
    case SiteKind::kDecoderSelf:
      return {.site = site, .row_axis = "steps", .col_axis = "target"};
    case SiteKind::kCross:
      return {.site = site, .row_axis = "steps", .col_axis = "source"};
    case SiteKind::kVisionSelf:
      return {.site = site, .row_axis = "patches", .col_axis = "patches"};
    case SiteKind::kPool:
      return {.site = site, .row_axis = "pool", .col_axis = "patches"};
    default:
      return {.site = site};
  }
}

Value attend(const Pass& pass, const AttentionPlace& place, const Value& queries, const Value& keys,
             const Value& values, const std::shared_ptr<const ScoreRule>& rule) {
  pass.cancel.check();
  if (pass.cache != nullptr && place.site.kind != SiteKind::kCross) {
    // The records of a generation are made from the cache once it is over.
    return ops::merge_heads(
        pass.cache->attend(place.site, queries.tensor, keys.tensor, values.tensor, *rule));
  }
  const ops::AttentionResult result = ops::attention(queries, keys, values, rule);
  if (pass.recorder != nullptr && pass.recorder->wants(place.site)) {
    AttentionRecord record;
    record.site = place.site;
    record.row_axis = place.row_axis;
    record.col_axis = place.col_axis;
    record.queries = queries.tensor;
    record.keys = keys.tensor;
    if (pass.recorder->options().values) record.values = values.tensor;
    if (pass.recorder->options().outputs) record.output = result.output.tensor;
    record.lse = result.lse;
    record.rule = *rule;
    if (pass.recorder->options().block && place.block) record.block = place.block();
    pass.recorder->add(std::move(record));
  }
  if (pass.progress != nullptr) pass.progress->advance();
  return ops::merge_heads(result.output);
}

}  // namespace fovea
