#include "fovea/explain/span_mass.h"

#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

void check_layer(const AttentionRecord& record, int64_t row, PositionSpan span) {
  const AttentionShape shape = record.shape();
  if (row < 0 || row >= shape.rows) {
    fail(ErrorKind::kInvalidArgument, "there is no position {} among the {} rows of {}", row,
         shape.rows, to_string(record.site));
  }
  if (span.begin < 0 || span.begin >= span.end || span.end > shape.cols) {
    fail(ErrorKind::kInvalidArgument, "positions {} to {} are no part of the {} columns of {}",
         span.begin, span.end - 1, shape.cols, to_string(record.site));
  }
}

}  // namespace

std::vector<double> span_mass(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                              int64_t row, PositionSpan span) {
  std::vector<double> mass;
  for (const auto& record : layers) {
    check_layer(*record, row, span);
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      check_cancelled();
      const std::vector<float> weights = AttentionMap(record, head).row(row);
      mass.push_back(
          std::accumulate(weights.begin() + span.begin, weights.begin() + span.end, 0.0));
    }
  }
  return mass;
}

double even_share(const AttentionRecord& record, int64_t row, PositionSpan span) {
  int64_t seen = 0, in_span = 0;
  for (int64_t j = 0; j < record.shape().cols; ++j) {
    if (!record.rule.mask.allows(row, j)) continue;
    ++seen;
    if (j >= span.begin && j < span.end) ++in_span;
  }
  return seen > 0 ? static_cast<double>(in_span) / static_cast<double>(seen) : 0;
}

}  // namespace fovea
