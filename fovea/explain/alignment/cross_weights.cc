#include "fovea/explain/alignment/cross_weights.h"

#include <algorithm>
#include <cmath>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/explain/value_norm.h"

namespace fovea {
namespace {

Matrix to_matrix(const Tensor& tile) {
  Matrix matrix(tile.size(0), tile.size(1));
  const auto values = tile.values<float>();
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    const auto row = values.subspan(static_cast<size_t>(i * matrix.cols()));
    std::copy_n(row.begin(), matrix.cols(), matrix.row(i).begin());
  }
  return matrix;
}

void add_scaled_matrix(Matrix& sum, const Matrix& part, double factor) {
  for (int64_t i = 0; i < sum.rows(); ++i) {
    const auto row = part.row(i);
    for (size_t j = 0; j < row.size(); ++j) sum.row(i)[j] += factor * row[j];
  }
}

}  // namespace

Matrix read_rows(const Matrix& matrix, TargetReading reading, TargetRows target) {
  const int64_t before = reading == TargetReading::kOutput ? 1 : 0;
  const bool sound = target.pieces >= 0 && target.prefix >= before;
  const int64_t first = sound ? target.prefix - before : 0;
  if (!sound || first > matrix.rows() || target.pieces > matrix.rows() - first) {
    fail(ErrorKind::kInvalidArgument,
         "{} target tokens after {} others, read by decoder {}, are not all among {} rows",
         target.pieces, target.prefix, kTargetReadings.name_of(reading), matrix.rows());
  }
  Matrix rows(target.pieces, matrix.cols());
  for (int64_t i = 0; i < target.pieces; ++i) {
    std::ranges::copy(matrix.row(first + i), rows.row(i).begin());
  }
  return rows;
}

CrossLayer::CrossLayer(std::shared_ptr<const AttentionRecord> record) : record_(std::move(record)) {
  for (int64_t head = 0; head < record_->shape().heads; ++head) {
    const AttentionMap map(record_, head);
    weights_.push_back(to_matrix(map.tile(map.whole())));
  }
}

void CrossLayer::check_head(int64_t head) const {
  if (head >= 0 && head < heads()) return;
  fail(ErrorKind::kInvalidArgument, "{} has no head {}; its {} heads are 0 to {}",
       to_string(record_->site), head, heads(), heads() - 1);
}

const Matrix& CrossLayer::head_weights(int64_t head) const {
  check_head(head);
  return weights_[static_cast<size_t>(head)];
}

Matrix CrossLayer::mean_weights() const {
  Matrix mean(rows(), cols());
  for (const Matrix& head : weights_)
    add_scaled_matrix(mean, head, 1 / static_cast<double>(heads()));
  return mean;
}

const std::vector<double>& CrossLayer::grams() const {
  if (grams_.empty()) grams_ = value_grams(BlockSum(record_, BlockExtent::kAttention, {}));
  return grams_;
}

Matrix CrossLayer::head_norms(int64_t head) const {
  check_head(head);
  const std::vector<double>& gram = grams();
  Matrix norms = head_weights(head);
  for (int64_t j = 0; j < cols(); ++j) {
    const double length =
        std::sqrt(gram[static_cast<size_t>((j * heads() + head) * heads() + head)]);
    for (int64_t i = 0; i < rows(); ++i) norms(i, j) *= length;
  }
  return norms;
}

Matrix CrossLayer::layer_norms() const {
  const std::vector<double>& all = grams();
  Matrix norms(rows(), cols());
  std::vector<double> a(static_cast<size_t>(heads()));
  for (int64_t i = 0; i < rows(); ++i) {
    for (int64_t j = 0; j < cols(); ++j) {
      for (size_t h = 0; h < a.size(); ++h) a[h] = weights_[h](i, j);
      norms(i, j) = gram_norm(a, all.data() + j * heads() * heads());
    }
  }
  return norms;
}

std::vector<CrossLayer> cross_layers(const Run& run) {
  std::vector<std::shared_ptr<const AttentionRecord>> records;
  for (const auto& record : run.records) {
    if (record->site.kind == SiteKind::kCross) records.push_back(record);
  }
  if (records.empty()) {
    fail(ErrorKind::kNotFound,
         "the run of {} holds no cross-attention; alignment needs an encoder-decoder model",
         run.model);
  }
  std::ranges::sort(records, {}, [](const auto& record) { return record->site; });
  return {records.begin(), records.end()};
}

Matrix mean_weights(std::span<const CrossLayer> layers) {
  if (layers.empty()) {
    fail(ErrorKind::kInvalidArgument, "there is no layer to take the mean of; give at least one");
  }
  int64_t heads = 0;
  for (const CrossLayer& layer : layers) heads += layer.heads();
  Matrix mean(layers.front().rows(), layers.front().cols());
  for (const CrossLayer& layer : layers) {
    if (layer.rows() != mean.rows() || layer.cols() != mean.cols()) {
      fail(ErrorKind::kInvalidArgument,
           "layer {} has maps of {} x {} but layer {} of {} x {}; give layers of one run",
           layer.layer(), layer.rows(), layer.cols(), layers.front().layer(), mean.rows(),
           mean.cols());
    }
    for (int64_t head = 0; head < layer.heads(); ++head) {
      add_scaled_matrix(mean, layer.head_weights(head), 1 / static_cast<double>(heads));
    }
  }
  return mean;
}

}  // namespace fovea
