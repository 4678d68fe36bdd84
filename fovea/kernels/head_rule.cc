#include "fovea/kernels/head_rule.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "fovea/kernels/attention_tile.h"

namespace fovea {

HeadRule::HeadRule(const AttentionInputs& attention_inputs, int64_t head_index,
                   KeyRange key_columns)
    : inputs(attention_inputs),
      shape(attention_inputs.shape()),
      rule(attention_inputs.rule),
      head(head_index),
      columns(key_columns),
      plain(rule->mask.range_only() && std::holds_alternative<std::monostate>(rule->bias) &&
            rule->soft_cap == 0 && rule->cuts.empty()) {
  std::ranges::copy_if(rule->cuts, std::back_inserter(cuts),
                       [this](const CutEdge& cut) { return cut.head < 0 || cut.head == head; });
  if (!rule->mask.key_valid.empty()) {
    for (int64_t key = columns.begin; key < columns.end; ++key) {
      const bool valid = rule->mask.key_valid[static_cast<size_t>(key)] != 0;
      key_penalty.push_back(valid ? 0.0F : -std::numeric_limits<float>::infinity());
    }
  }
  const auto* tables = std::get_if<PositionTables>(&rule->bias);
  if (tables == nullptr) return;
  if (!tables->keys.empty()) {
    entries = tables->keys.size(1);
    position_keys = Panels::of_keys(HeadsView::of(tables->keys), head, {0, entries});
  }
  if (!tables->queries.empty()) {
    entries = tables->queries.size(1);
    const int64_t count = columns.end - columns.begin;
    key_terms.resize(static_cast<size_t>(count * entries));
    dot_tile(inputs.keys, shape.kv_head(head), columns.begin, HeadsView::of(tables->queries), head,
             {0, entries}, MatrixView<float>(key_terms.data(), count, entries));
    for (float& term : key_terms) term *= rule->scale;
  }
}

}  // namespace fovea
