#include "fovea/layers/attention_cache.h"

#include <algorithm>

namespace fovea {

template <typename T>
void AttentionCache::Rows<T>::append(const Tensor& more, int64_t begin, int64_t count) {
  if (heads == 0) {
    heads = more.size(0);
    dim = more.size(2);
  }
  FOVEA_ASSERT(more.size(0) == heads && more.size(2) == dim);
  if (rows + count > capacity) {
    const int64_t larger = std::max<int64_t>(64, std::max(2 * capacity, rows + count));
    std::vector<T> grown(static_cast<size_t>(heads * larger * dim));
    for (int64_t head = 0; head < heads; ++head) {
      std::copy_n(data.data() + head * capacity * dim, rows * dim,
                  grown.data() + head * larger * dim);
    }
    data = std::move(grown);
    capacity = larger;
  }
  const T* from = more.values<T>().data();
  for (int64_t head = 0; head < heads; ++head) {
    std::copy_n(from + (head * more.size(1) + begin) * dim, count * dim,
                data.data() + (head * capacity + rows) * dim);
  }
  rows += count;
}

template <typename T>
Tensor AttentionCache::Rows<T>::tensor() const {
  Tensor result = Tensor::uninitialized({heads, rows, dim}, kDTypeOf<T>);
  T* to = result.mutable_values<T>().data();
  for (int64_t head = 0; head < heads; ++head) {
    to = std::copy_n(data.data() + head * capacity * dim, rows * dim, to);
  }
  return result;
}

template <typename T>
HeadsView AttentionCache::Rows<T>::view() const {
  return {.data = reinterpret_cast<const std::byte*>(data.data()),
          .dtype = kDTypeOf<T>,
          .heads = heads,
          .rows = rows,
          .dim = dim,
          .head_stride = capacity * dim,
          .row_stride = dim};
}

namespace {

// The rule of all steps at once, from that of the last. A table of distances has then to reach as
// far ahead as behind; what is ahead is masked, so that any entry serves. A dense bias of causal
// models depends on the column alone.
ScoreRule whole_rule(ScoreRule rule) {
  const auto steps_before = static_cast<size_t>(rule.mask.query_offset);
  rule.mask.query_offset = 0;
  if (auto* table = std::get_if<DistanceTable>(&rule.bias); table != nullptr) {
    table->index.resize(table->index.size() + steps_before, table->index.back());
  }
  if (auto* dense = std::get_if<DenseBias>(&rule.bias); dense != nullptr) {
    dense->row_index.resize(dense->row_index.size() + steps_before, dense->row_index.back());
  }
  return rule;
}

}  // namespace

void AttentionCache::branch(std::span<const int64_t> parents) {
  for ([[maybe_unused]] const int64_t parent : parents)
    FOVEA_ASSERT(parent >= 0 && parent < hypotheses_);
  for (auto& [site, entry] : entries_) {
    std::vector<Past> children(parents.size());
    // The last child takes its parent's past over, the others copy it.
    std::vector<size_t> heirs(entry.pasts.size());
    for (size_t i = 0; i < parents.size(); ++i) heirs[static_cast<size_t>(parents[i])] = i;
    for (size_t i = 0; i < parents.size(); ++i) {
      Past& past = entry.pasts[static_cast<size_t>(parents[i])];
      if (heirs[static_cast<size_t>(parents[i])] == i) {
        children[i] = std::move(past);
      } else {
        children[i] = past;
      }
    }
    entry.pasts = std::move(children);
  }
  hypotheses_ = static_cast<int64_t>(parents.size());
}

Tensor AttentionCache::attend(SiteId site, const Tensor& queries, const Tensor& keys,
                              const Tensor& values, const ScoreRule& rule) {
  const int64_t heads = queries.size(0), all_rows = queries.size(1);
  FOVEA_ASSERT(all_rows % hypotheses_ == 0);
  const int64_t rows = all_rows / hypotheses_;
  Entry& entry = entries_[site];
  entry.pasts.resize(static_cast<size_t>(hypotheses_));
  entry.rule = rule;
  Tensor output = Tensor::uninitialized({heads, all_rows, values.size(2)});
  Tensor lse = Tensor::uninitialized({heads, rows, 1}, DType::kF64);
  for (int64_t h = 0; h < hypotheses_; ++h) {
    Past& past = entry.pasts[static_cast<size_t>(h)];
    const int64_t first = h * rows;
    past.keys.append(keys, first, rows);
    past.values.append(values, first, rows);
    past.queries.append(queries, first, rows);
    HeadsView own = HeadsView::of(queries);
    own.data += static_cast<size_t>(first * own.row_stride) * sizeof(float);
    own.rows = rows;
    const AttentionInputs inputs{own, past.keys.view(), past.values.view(), &rule};
    validate(inputs);
    MutableHeadsView out = MutableHeadsView::of(output);
    out.data += first * out.row_stride;
    attention(inputs, out, lse.mutable_values<double>());
    past.lse.append(lse, 0, rows);
  }
  return output;
}

const AttentionCache::Memory& AttentionCache::memory(SiteId site,
                                                     const std::function<Memory()>& make) {
  const auto found = memories_.find(site);
  return found != memories_.end() ? found->second : memories_.emplace(site, make()).first->second;
}

void AttentionCache::record_into(Recorder& recorder, const std::string& row_axis) const {
  for (const auto& [site, entry] : entries_) {
    if (!recorder.wants(site)) continue;
    const Past& past = entry.pasts.front();
    AttentionRecord record;
    record.site = site;
    record.row_axis = row_axis;
    record.queries = past.queries.tensor();
    record.keys = past.keys.tensor();
    if (recorder.options().values) record.values = past.values.tensor();
    record.lse = past.lse.tensor().reshaped({past.lse.heads, past.lse.rows});
    record.rule = whole_rule(entry.rule);
    recorder.add(std::move(record));
  }
}

}  // namespace fovea
