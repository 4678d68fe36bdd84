#include "fovea/kernels/score_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "fovea/kernels/parallel_rows.h"

namespace fovea {
namespace {

constexpr int64_t kBoundLanes = 16;  // sums kept apart, so that the compiler can use vectors

// Dot products of f32 are off by less than this part of |q| |k|, as is everything here.
constexpr float kRounding = 1e-4F;

float dot_in_lanes(const float* a, const float* b, int64_t count) {
  float sums[kBoundLanes] = {};
  int64_t i = 0;
  for (; i + kBoundLanes <= count; i += kBoundLanes) {
    for (int64_t lane = 0; lane < kBoundLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

float largest_of(std::span<const float> values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

}  // namespace

ScoreBound::ScoreBound(const HeadRule& head, const Panels& keys) : head_(&head) {
  const int64_t depth = keys.depth();
  const int64_t blocks = (keys.columns() + kBlockKeys - 1) / kBlockKeys;
  centres_.resize(static_cast<size_t>(blocks * depth));
  radii_.resize(static_cast<size_t>(blocks));
  lengths_.resize(static_cast<size_t>(blocks));
  const auto measure = [&](int64_t block) {
    const int64_t first = block * kBlockKeys;
    const int64_t count = std::min(keys.columns() - first, kBlockKeys);
    float squares[kBlockKeys] = {};
    float length = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const auto row_of = [&](int64_t c) {
        return keys.panel((first + c) / kPanelWidth) + d * kPanelWidth;
      };
      float sums[kPanelWidth] = {};  // the columns that fill up the last panel are zero
      for (int64_t c = 0; c < count; c += kPanelWidth) {
        const float* row = row_of(c);
        for (int64_t k = 0; k < kPanelWidth; ++k) sums[k] += row[k];
      }
      float centre = 0;
      for (const float sum : sums) centre += sum;
      centre /= static_cast<float>(count);
      for (int64_t c = 0; c < count; c += kPanelWidth) {
        const float* row = row_of(c);
        for (int64_t k = 0; k < kPanelWidth; ++k) {
          squares[c + k] += (row[k] - centre) * (row[k] - centre);
        }
      }
      centres_[static_cast<size_t>(block * depth + d)] = centre;
      length += centre * centre;
    }
    const auto place = static_cast<size_t>(block);
    radii_[place] =
        std::sqrt(largest_of(std::span<const float>(squares, static_cast<size_t>(count))));
    lengths_[place] = std::sqrt(length) + radii_[place];
  };
  parallel_rows(blocks, kBlockKeys * depth, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) measure(block);
  });
  const ScoreBias& bias = head.rule->bias;
  if (const auto* table = std::get_if<DistanceTable>(&bias)) {
    const auto entries = static_cast<size_t>(table->values.size(1));
    table_bias_ = largest_of(
        table->values.values<float>().subspan(static_cast<size_t>(head.head) * entries, entries));
  } else if (const auto* dense = std::get_if<DenseBias>(&bias)) {
    table_bias_ = largest_of(dense->values.values<float>());
  }
}

float ScoreBound::of(const float* query, float norm, int64_t row, int64_t block) const {
  const int64_t depth = head_->shape.head_dim;
  const auto place = static_cast<size_t>(block);
  const float product =
      dot_in_lanes(query, centres_.data() + block * depth, depth) + norm * radii_[place];
  const float bias = largest_bias(row, block);
  const float slack = kRounding * (norm * lengths_[place] + std::abs(bias));
  const float bound = product + bias + slack;
  const float cap = head_->rule->soft_cap;
  return cap > 0 ? cap * std::tanh(bound / cap) + kRounding * cap : bound;
}

float ScoreBound::largest_bias(int64_t row, int64_t block) const {
  const ScoreBias& bias = head_->rule->bias;
  if (std::holds_alternative<PositionTables>(bias)) return std::numeric_limits<float>::infinity();
  const auto* alibi = std::get_if<AlibiSlopes>(&bias);
  if (alibi == nullptr) return table_bias_;
  const float slope = alibi->slopes[static_cast<size_t>(head_->head)];
  const int64_t place = row + head_->rule->mask.query_offset;
  const int64_t first = head_->columns.begin + block * kBlockKeys;
  const int64_t last = std::min(first + kBlockKeys, head_->columns.end) - 1;
  const int64_t nearest = std::max<int64_t>({0, first - place, place - last});
  const int64_t farthest = std::max(std::abs(place - first), std::abs(place - last));
  return -slope * static_cast<float>(slope >= 0 ? nearest : farthest);
}

}  // namespace fovea
