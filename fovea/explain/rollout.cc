#include "fovea/explain/rollout.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/explain/fused_layer.h"

namespace fovea {
namespace {

using Layers = std::span<const std::shared_ptr<const AttentionRecord>>;

void check_rollout(Layers layers, int64_t target, double discard) {
  if (layers.empty()) fail(ErrorKind::kInvalidArgument, "rollout needs at least one layer");
  const int64_t positions = layers.front()->shape().rows;
  for (const auto& record : layers) {
    const AttentionShape shape = record->shape();
    if (shape.rows == positions && shape.cols == positions) continue;
    fail(ErrorKind::kInvalidArgument,
         "{} has {} rows and {} columns but {} has {} rows; rollout needs self-attentions over the "
         "same positions",
         to_string(record->site), shape.rows, shape.cols, to_string(layers.front()->site),
         positions);
  }
  if (target < 0 || target >= positions) {
    fail(ErrorKind::kInvalidArgument, "there is no position {} among {}; they are 0 to {}", target,
         positions, positions - 1);
  }
  if (!(discard >= 0 && discard < 1)) {
    fail(ErrorKind::kInvalidArgument,
         "a share of {} of the weights cannot be discarded; give 0 or more and less than 1",
         discard);
  }
}

// Whether every row of the layer sums to 1 by its rule, so that sums need not be computed.
bool rows_sum_to_one(const AttentionRecord& record) {
  const Mask& mask = record.rule.mask;
  if (!record.has_queries() || !record.rule.sink_logit.empty() || !mask.range_only()) return false;
  for (int64_t i = 0; i < record.shape().rows; ++i) {
    const KeyRange range = mask.key_range(i, record.shape().cols);
    if (range.begin >= range.end) return false;
  }
  return true;
}

std::vector<double> mean_row_sums(const std::shared_ptr<const AttentionRecord>& record) {
  const AttentionShape shape = record->shape();
  std::vector<double> sums(static_cast<size_t>(shape.rows), 1.0);
  if (rows_sum_to_one(*record)) return sums;
  std::fill(sums.begin(), sums.end(), 0.0);
  Tensor ones({shape.cols, 1});
  for (float& value : ones.mutable_values<float>()) value = 1;
  for (int64_t head = 0; head < shape.heads; ++head) {
    const Tensor part = AttentionMap(record, head).times_right(ones);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] += double{part.values<float>()[i]} / static_cast<double>(shape.heads);
    }
  }
  return sums;
}

// Row i of A^ is its fused weights times (1 - residual) * row_weight, and kept_by_row on itself;
// all on itself where there is nothing to divide by.
double row_weight(double r, double sum, double residual) {
  const double whole = (1 - residual) * sum + residual;
  return whole > 0 ? r / whole : 0;
}
double kept_by_row(double r, double sum, double residual) {
  const double whole = (1 - residual) * sum + residual;
  return whole > 0 ? residual * r / whole : r;
}

// r A^ with the mean of all heads and nothing discarded: tiles go straight into column sums.
std::vector<double> step_of_mean(const std::shared_ptr<const AttentionRecord>& record,
                                 std::span<const double> r, double residual) {
  const std::vector<double> sums = mean_row_sums(record);
  std::vector<double> weights(r.size());
  std::vector<double> next(r.size());
  for (size_t i = 0; i < r.size(); ++i) {
    weights[i] = row_weight(r[i], sums[i], residual);
    next[i] = kept_by_row(r[i], sums[i], residual);
  }
  const int64_t heads = record->shape().heads;
  for (int64_t head = 0; head < heads; ++head) {
    const std::vector<double> part = AttentionMap(record, head).times_left(weights);
    for (size_t j = 0; j < next.size(); ++j) {
      next[j] += (1 - residual) / static_cast<double>(heads) * part[j];
    }
  }
  return next;
}

// Calls visit(i, row, sum) with the rows of the fused layer after the discard, and their sums.
template <typename Visit>
void for_each_kept_row(const std::shared_ptr<const AttentionRecord>& record, HeadFusion fusion,
                       double discard, bool keep_first_entry, const Visit& visit) {
  const FusedLayer layer(record, fusion);
  const auto count =
      static_cast<int64_t>(static_cast<double>(layer.rows() * layer.cols()) * discard);
  SmallestEntries smallest = smallest_entries(layer, count);
  const auto take = [&](int64_t i, std::span<float> row) {
    double sum = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      const bool drop = count > 0 && (row[j] < smallest.value ||
                                      (row[j] == smallest.value && smallest.equal-- > 0));
      if (drop && !(keep_first_entry && i == 0 && j == 0)) row[j] = 0;
      sum += double{row[j]};
    }
    visit(i, row, sum);
  };
  layer.for_each_row(take);
}

}  // namespace

LayerRecords layers_of(const Run& run, SiteKind kind) {
  LayerRecords layers;
  for (const auto& record : run.records) {
    if (record->site.kind == kind) layers.push_back(record);
  }
  if (layers.empty()) {
    fail(ErrorKind::kNotFound, "the run of {} has no attention like {}", run.model,
         to_string(SiteId{kind, 0}));
  }
  std::ranges::sort(layers, {}, [](const auto& record) { return record->site.layer; });
  return layers;
}

std::vector<double> rollout(Layers layers, int64_t target, const RolloutOptions& options) {
  check_rollout(layers, target, options.discard);
  if (!(options.residual >= 0 && options.residual <= 1)) {
    fail(ErrorKind::kInvalidArgument, "the residual of rollout is {} but must be 0 to 1",
         options.residual);
  }
  if (options.start_layer < 0 || options.start_layer > static_cast<int64_t>(layers.size())) {
    fail(ErrorKind::kInvalidArgument, "rollout is to begin at layer {} but there are 0 to {}",
         options.start_layer, layers.size() - 1);
  }
  const double residual = options.residual;
  std::vector<double> r(static_cast<size_t>(layers.front()->shape().rows), 0.0);
  r[static_cast<size_t>(target)] = 1;
  for (auto layer = static_cast<int64_t>(layers.size()) - 1; layer >= options.start_layer;
       --layer) {
    const auto& record = layers[static_cast<size_t>(layer)];
    if (options.fusion == HeadFusion::kMean && options.discard == 0) {
      r = step_of_mean(record, r, residual);
      continue;
    }
    std::vector<double> next(r.size(), 0.0);
    const auto add = [&](int64_t i, std::span<const float> row, double sum) {
      const double weight = row_weight(r[static_cast<size_t>(i)], sum, residual);
      next[static_cast<size_t>(i)] += kept_by_row(r[static_cast<size_t>(i)], sum, residual);
      for (size_t j = 0; j < row.size(); ++j) next[j] += (1 - residual) * weight * double{row[j]};
    };
    for_each_kept_row(record, options.fusion, options.discard, false, add);
    r = std::move(next);
  }
  return r;
}

std::vector<double> vit_explain_rollout(Layers layers, int64_t target,
                                        const VitExplainOptions& options) {
  check_rollout(layers, target, options.discard);
  std::vector<double> r(static_cast<size_t>(layers.front()->shape().rows), 0.0);
  r[static_cast<size_t>(target)] = 1;
  for (size_t layer = layers.size(); layer-- > 0;) {
    std::vector<double> next = r;  // r (A + I), both halved in the original
    std::vector<double> sums(r.size());
    const auto add = [&](int64_t i, std::span<const float> row, double sum) {
      sums[static_cast<size_t>(i)] = sum + 1;
      for (size_t j = 0; j < row.size(); ++j) {
        next[j] += r[static_cast<size_t>(i)] * double{row[j]};
      }
    };
    for_each_kept_row(layers[layer], options.fusion, options.discard, true, add);
    for (size_t j = 0; j < next.size(); ++j) next[j] /= sums[j];
    r = std::move(next);
  }
  return r;
}

}  // namespace fovea
