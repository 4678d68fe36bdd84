#include "fovea/layers/interventions.h"

#include <algorithm>

namespace fovea {
namespace {

void check_below(std::string_view what, int64_t index, int64_t count, SiteId site) {
  if (index >= 0 && index < count) return;
  fail(ErrorKind::kInvalidArgument, "{} {} is to be changed at {} but it has {}", what, index,
       to_string(site), count);
}

bool holds_at(const std::optional<SiteId>& site, SiteId here) {
  return !site || *site == here;
}

void hide_key(ScoreRule& rule, int64_t key, int64_t keys) {
  if (rule.mask.key_valid.empty()) rule.mask.key_valid.assign(static_cast<size_t>(keys), 1);
  rule.mask.key_valid[static_cast<size_t>(key)] = 0;
}

Tensor without_value(const Tensor& values, int64_t position) {
  Tensor changed = values.clone();
  for (int64_t head = 0; head < values.size(0); ++head) {
    float* row = changed.mutable_matrix<float>(head).row(position);
    std::fill_n(row, values.size(2), 0.0F);
  }
  return changed;
}

// Entry `head` of the first axis set to 0.
Tensor without_head(const Tensor& all, int64_t head) {
  Tensor changed = all.clone();
  const int64_t size = all.elements() / all.size(0);
  std::fill_n(changed.mutable_values<float>().begin() + head * size, size, 0.0F);
  return changed;
}

Tensor with_scaled_head(const Tensor& all, int64_t head, float factor) {
  Tensor changed = all.clone();
  const int64_t size = all.elements() / all.size(0);
  const auto values = changed.mutable_values<float>().subspan(static_cast<size_t>(head * size),
                                                              static_cast<size_t>(size));
  for (float& value : values) value *= factor;
  return changed;
}

// Queries of 0 make q . k vanish; what the head's bias adds must vanish too.
void remove_bias(ScoreRule& rule, int64_t head, int64_t heads, SiteId site) {
  if (!rule.sink_logit.empty()) {
    fail(ErrorKind::kUnsupported,
         "{} has attention sinks, beside which a head cannot attend evenly; zero the head instead",
         to_string(site));
  }
  if (auto* alibi = std::get_if<AlibiSlopes>(&rule.bias)) {
    alibi->slopes[static_cast<size_t>(head)] = 0;
  } else if (auto* table = std::get_if<DistanceTable>(&rule.bias)) {
    table->values = without_head(table->values, head);
  } else if (auto* tables = std::get_if<PositionTables>(&rule.bias)) {
    if (!tables->queries.empty()) tables->queries = without_head(tables->queries, head);
  } else if (auto* dense = std::get_if<DenseBias>(&rule.bias)) {
    if (dense->values.size(0) == 1 && heads > 1) {
      fail(ErrorKind::kUnsupported, "the heads of {} share one bias; zero the head instead",
           to_string(site));
    }
    dense->values = without_head(dense->values, head);
  }
}

}  // namespace

AttentionParts Interventions::before(const AttentionPlace& place, AttentionParts parts) const {
  const int64_t heads = parts.queries.tensor.size(0), cols = parts.keys.tensor.size(1);
  auto rule = std::make_shared<ScoreRule>(*parts.rule);
  for (const Intervention& change : changes_) {
    if (const auto* hide = std::get_if<HidePosition>(&change)) {
      if (hide->axis != place.col_axis) continue;
      check_below("position", hide->position, cols, place.site);
      hide_key(*rule, hide->position, cols);
    } else if (const auto* edge = std::get_if<HideEdge>(&change)) {
      if (!holds_at(edge->site, place.site)) continue;
      check_below("row", edge->row, parts.queries.tensor.size(1), place.site);
      check_below("column", edge->col, cols, place.site);
      if (edge->head) check_below("head", *edge->head, heads, place.site);
      rule->cuts.push_back({edge->row, edge->col, edge->head.value_or(-1)});
    } else if (const auto* zero = std::get_if<ZeroValue>(&change)) {
      if (!holds_at(zero->site, place.site)) continue;
      check_below("position", zero->position, cols, place.site);
      parts.values = without_value(parts.values.tensor, zero->position);
    } else if (const auto* even = std::get_if<EvenHead>(&change)) {
      if (even->site != place.site) continue;
      check_below("head", even->head, heads, place.site);
      parts.queries = without_head(parts.queries.tensor, even->head);
      remove_bias(*rule, even->head, heads, place.site);
    }
  }
  std::ranges::sort(rule->cuts);
  const auto again = std::ranges::unique(rule->cuts);
  rule->cuts.erase(again.begin(), again.end());
  parts.rule = std::move(rule);
  return parts;
}

Tensor Interventions::after(const AttentionPlace& place, Tensor output) const {
  for (const Intervention& change : changes_) {
    if (const auto* zero = std::get_if<SilenceHead>(&change)) {
      if (zero->site != place.site) continue;
      check_below("head", zero->head, output.size(0), place.site);
      output = without_head(output, zero->head);
    } else if (const auto* scaled = std::get_if<ScaleHead>(&change)) {
      if (scaled->site != place.site) continue;
      check_below("head", scaled->head, output.size(0), place.site);
      output = with_scaled_head(output, scaled->head, scaled->factor);
    }
  }
  return output;
}

}  // namespace fovea
