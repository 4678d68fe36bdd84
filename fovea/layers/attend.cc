#include "fovea/layers/attend.h"

#include <algorithm>
#include <cmath>

#include "fovea/kernels/attention.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/ops/layout.h"

namespace fovea {
namespace {

// log of the sum over heads of exp lse, for each row of [heads, rows].
Tensor joint_lse(const Tensor& lse) {
  const int64_t heads = lse.size(0), rows = lse.size(1);
  const std::span<const double> each = lse.values<double>();
  Tensor joint = Tensor::uninitialized({rows}, DType::kF64);
  for (int64_t row = 0; row < rows; ++row) {
    const auto of_head = [&](int64_t head) { return each[static_cast<size_t>(head * rows + row)]; };
    double largest = of_head(0);
    for (int64_t head = 1; head < heads; ++head) largest = std::max(largest, of_head(head));
    double sum = 0;
    for (int64_t head = 0; head < heads; ++head) sum += std::exp(of_head(head) - largest);
    joint.mutable_values<double>()[static_cast<size_t>(row)] = largest + std::log(sum);
  }
  return joint;
}

}  // namespace

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
    if (pass.recorder->options().positions && place.positions) {
      record.positions = place.positions();
    }
    pass.recorder->add(std::move(record));
  }
  if (pass.progress != nullptr) pass.progress->advance();
  return ops::merge_heads(result.output);
}

Tensor attend_jointly(const Pass& pass, const AttentionPlace& place, const Tensor& queries,
                      const Tensor& keys, const std::shared_ptr<const ScoreRule>& rule) {
  pass.cancel.check();
  const AttentionInputs inputs{HeadsView::of(queries), HeadsView::of(keys), {}, rule.get()};
  validate(inputs);
  const AttentionShape shape = inputs.shape();
  Tensor lse = Tensor::uninitialized({shape.heads, shape.rows}, DType::kF64);
  fovea::attention(inputs, {}, lse.mutable_values<double>(), pass.cancel);
  const Tensor joint = joint_lse(lse);
  for (int64_t head = 0; head < shape.heads; ++head) {
    std::ranges::copy(joint.values<double>(),
                      lse.mutable_values<double>().begin() + head * shape.rows);
  }
  if (pass.recorder != nullptr && pass.recorder->wants(place.site)) {
    AttentionRecord record;
    record.site = place.site;
    record.row_axis = place.row_axis;
    record.col_axis = place.col_axis;
    record.queries = queries;
    record.keys = keys;
    record.lse = lse;
    record.rule = *rule;
    pass.recorder->add(std::move(record));
  }
  if (pass.progress != nullptr) pass.progress->advance();
  return joint;
}

}  // namespace fovea
