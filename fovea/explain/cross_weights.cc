#include "fovea/explain/cross_weights.h"

#include <algorithm>
#include <cmath>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/matmul.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

// Columns whose f(x) are in memory at a time.
constexpr int64_t kColumnBlock = 128;

Matrix to_matrix(const Tensor& tile) {
  Matrix matrix(tile.size(0), tile.size(1));
  const auto values = tile.values<float>();
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    const auto row = values.subspan(static_cast<size_t>(i * matrix.cols()));
    std::copy_n(row.begin(), matrix.cols(), matrix.row(i).begin());
  }
  return matrix;
}

void add_scaled(Matrix& sum, const Matrix& part, double factor) {
  for (int64_t i = 0; i < sum.rows(); ++i) {
    const auto row = part.row(i);
    for (size_t j = 0; j < row.size(); ++j) sum.row(i)[j] += factor * row[j];
  }
}

double dot(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// f_h(x_j) of columns [begin, end): [heads, end - begin, width].
Tensor transformed_values(const AttentionRecord& record, const Tensor& values,
                          const Tensor& output_weight, int64_t begin, int64_t end) {
  const AttentionShape shape = record.shape();
  const int64_t width = output_weight.size(0);
  Tensor transformed = Tensor::uninitialized({shape.heads, end - begin, width});
  for (int64_t head = 0; head < shape.heads; ++head) {
    const auto value = values.matrix<float>(shape.kv_head(head));
    const auto weight = output_weight.matrix<float>();
    matmul(value.block(begin, 0, end - begin, shape.value_dim),
           weight.block(0, head * shape.value_dim, width, shape.value_dim),
           transformed.mutable_matrix<float>(head), {.transpose_b = true});
  }
  return transformed;
}

}  // namespace

std::string_view to_string(TargetReading reading) {
  return reading == TargetReading::kInput ? "input" : "output";
}

TargetReading parse_target_reading(std::string_view name) {
  if (name == "input") return TargetReading::kInput;
  if (name == "output") return TargetReading::kOutput;
  fail(ErrorKind::kInvalidArgument, "there is no reading '{}'; there are input, output", name);
}

Matrix read_rows(const Matrix& matrix, TargetReading reading, TargetRows target) {
  const int64_t before = reading == TargetReading::kOutput ? 1 : 0;
  const bool sound = target.pieces >= 0 && target.prefix >= before;
  const int64_t first = sound ? target.prefix - before : 0;
  if (!sound || first > matrix.rows() || target.pieces > matrix.rows() - first) {
    fail(ErrorKind::kInvalidArgument,
         "{} target tokens after {} others, read by decoder {}, are not all among {} rows",
         target.pieces, target.prefix, to_string(reading), matrix.rows());
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
  for (const Matrix& head : weights_) add_scaled(mean, head, 1 / static_cast<double>(heads()));
  return mean;
}

const std::vector<double>& CrossLayer::grams() const {
  if (!has_norms()) {
    fail(ErrorKind::kInvalidArgument,
         "{} was captured without {}; norms need both, so capture them", to_string(record_->site),
         record_->values.empty() ? "values" : "the block around it");
  }
  if (!grams_.empty()) return grams_;
  const Tensor values = convert(record_->values, DType::kF32);
  const Tensor output_weight = convert(record_->block->output_weight, DType::kF32);
  const int64_t width = output_weight.size(0);
  const int64_t area = heads() * heads();
  std::vector<double> grams(static_cast<size_t>(cols() * area));
  for (int64_t begin = 0; begin < cols(); begin += kColumnBlock) {
    const int64_t end = std::min(begin + kColumnBlock, cols());
    const Tensor f = transformed_values(*record_, values, output_weight, begin, end);
    parallel_for(end - begin, [&](int64_t item) {
      double* gram = grams.data() + (begin + item) * area;
      for (int64_t h = 0; h < heads(); ++h) {
        for (int64_t g = 0; g <= h; ++g) {
          const double product =
              dot(f.matrix<float>(h).row(item), f.matrix<float>(g).row(item), width);
          gram[h * heads() + g] = gram[g * heads() + h] = product;
        }
      }
    });
  }
  grams_ = std::move(grams);
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
      const double* gram = all.data() + j * heads() * heads();
      double square = 0;
      for (const double left : a) {
        double row = 0;
        for (const double right : a) row += *gram++ * right;
        square += left * row;
      }
      // Rounding may leave a small negative number where the vectors cancel.
      norms(i, j) = std::sqrt(std::max(square, 0.0));
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
      add_scaled(mean, layer.head_weights(head), 1 / static_cast<double>(heads));
    }
  }
  return mean;
}

}  // namespace fovea
