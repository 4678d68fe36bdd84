// Records that hold weights in place of queries and keys.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/tensor/convert.h"

namespace fovea::support {

inline std::shared_ptr<const AttentionRecord> stored_record(Tensor weights, const Mask& mask = {},
                                                            SiteId site = {}) {
  AttentionRecord record;
  record.site = site;
  record.weights = std::move(weights);
  record.rule.mask = mask;
  return std::make_shared<const AttentionRecord>(std::move(record));
}

// The same maps as those of a record that computes them.
inline std::shared_ptr<const AttentionRecord> stored_record_of(
    const std::shared_ptr<const AttentionRecord>& record) {
  const AttentionShape shape = record->shape();
  Tensor weights({shape.heads, shape.rows, shape.cols});
  for (int64_t head = 0; head < shape.heads; ++head) {
    const AttentionMap map(record, head);
    map.tile(map.whole(), weights.mutable_matrix<float>(head));
  }
  return stored_record(std::move(weights), record->rule.mask, record->site);
}

// Random rows that sum to `sum`, a tenth of their weights 0.
inline Tensor random_weights(const Shape& shape, uint32_t seed, double sum = 1) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> size;
  Tensor weights(shape);
  const MatrixView<float> rows = weights.mutable_matrix<float>();
  for (int64_t r = 0; r < rows.rows; ++r) {
    std::vector<double> row(static_cast<size_t>(rows.cols));
    double total = 0;
    for (double& weight : row) total += weight = random() % 10 == 0 ? 0 : size(random);
    for (int64_t c = 0; c < rows.cols; ++c) {
      rows(r, c) = static_cast<float>(sum * row[static_cast<size_t>(c)] / total);
    }
  }
  return weights;
}

}  // namespace fovea::support
