#include "fovea/layers/attention_cache.h"

#include <algorithm>

namespace fovea {

template <typename T>
void AttentionCache::Rows<T>::append(const Tensor& more) {
  const int64_t count = more.size(1);
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
    std::copy_n(from + head * count * dim, count * dim,
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

Tensor AttentionCache::attend(SiteId site, const Tensor& queries, const Tensor& keys,
                              const Tensor& values, const ScoreRule& rule) {
  Entry& entry = entries_[site];
  entry.keys.append(keys);
  entry.values.append(values);
  const AttentionInputs inputs{HeadsView::of(queries), entry.keys.view(), entry.values.view(),
                               &rule};
  validate(inputs);
  const int64_t heads = queries.size(0), rows = queries.size(1);
  Tensor output = Tensor::uninitialized({heads, rows, values.size(2)});
  Tensor lse = Tensor::uninitialized({heads, rows, 1}, DType::kF64);
  attention(inputs, MutableHeadsView::of(output), lse.mutable_values<double>());
  entry.queries.append(queries);
  entry.lse.append(lse);
  entry.rule = rule;
  entry.rule.mask.query_offset = 0;
  return output;
}

void AttentionCache::record_into(Recorder& recorder, const std::string& row_axis) const {
  for (const auto& [site, entry] : entries_) {
    if (!recorder.wants(site)) continue;
    AttentionRecord record;
    record.site = site;
    record.row_axis = row_axis;
    record.queries = entry.queries.tensor();
    record.keys = entry.keys.tensor();
    if (recorder.options().values) record.values = entry.values.tensor();
    record.lse = entry.lse.tensor().reshaped({entry.lse.heads, entry.lse.rows});
    record.rule = entry.rule;
    recorder.add(std::move(record));
  }
}

}  // namespace fovea
