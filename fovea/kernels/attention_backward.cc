#include "fovea/kernels/attention_backward.h"

#include <algorithm>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/matmul.h"

namespace fovea {
namespace {

constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockCols = 256;

// A head as an f32 matrix: the view's own numbers, or a copy of them.
class HeadMatrix {
 public:
  HeadMatrix(const HeadsView& view, int64_t head) {
    if (view.dtype == DType::kF32) {
      const auto* all = reinterpret_cast<const float*>(view.data);
      matrix_ = {all + head * view.head_stride, view.rows, view.dim, view.row_stride};
      return;
    }
    copy_ = Tensor::uninitialized({view.rows, view.dim});
    view.read_rows(head, 0, view.rows, 1, copy_.mutable_values<float>().data());
    matrix_ = copy_.matrix<float>();
  }

  const float* row(int64_t index) const { return matrix_.row(index); }
  MatrixView<const float> rows(int64_t first, int64_t count) const {
    return matrix_.block(first, 0, count, matrix_.cols);
  }

 private:
  Tensor copy_;
  MatrixView<const float> matrix_;
};

bool all_zero(MatrixView<const float> rows) {
  for (int64_t r = 0; r < rows.rows; ++r) {
    if (std::any_of(rows.row(r), rows.row(r) + rows.cols, [](float x) { return x != 0; })) {
      return false;
    }
  }
  return true;
}

// What one head adds to the gradients; empty where they are not wanted.
struct HeadGradient {
  Tensor queries;
  Tensor keys;
  Tensor values;
};

// One block of the score matrix: P = A, and dS = P * (dP - D) with dP = dO V^T.
struct Block {
  int64_t row;
  KeyRange part;
  MatrixView<float> weights;
  MatrixView<float> score_gradient;
};

class HeadBackward {
 public:
  HeadBackward(const AttentionInputs& inputs, int64_t head, const HeadsView& out,
               std::span<const double> lse, const HeadsView& out_gradient, WantedGradients wanted)
      : shape_(inputs.shape()),
        rule_(*inputs.rule),
        head_(head),
        wanted_(wanted),
        queries_(inputs.queries, head),
        keys_(inputs.keys, shape_.kv_head(head)),
        values_(inputs.values, shape_.kv_head(head)),
        out_(out, head),
        out_gradient_(out_gradient, head),
        lse_(lse),
        tiles_(inputs, head, {0, shape_.cols}) {}

  HeadGradient run() {
    HeadGradient gradient;
    if (wanted_.scores) {
      gradient.queries = Tensor(Shape{shape_.rows, shape_.head_dim});
      gradient.keys = Tensor(Shape{shape_.cols, shape_.head_dim});
    }
    if (wanted_.values) gradient.values = Tensor(Shape{shape_.cols, shape_.value_dim});
    Tensor weights = Tensor::uninitialized({kBlockRows, kBlockCols});
    Tensor score_gradient = Tensor::uninitialized({kBlockRows, kBlockCols});
    for (int64_t row = 0; row < shape_.rows; row += kBlockRows) {
      const int64_t count = std::min(shape_.rows - row, kBlockRows);
      check_cancelled();
      // In the last layer most rows have no part in the target.
      if (all_zero(out_gradient_.rows(row, count))) continue;
      const std::vector<float> means = row_means(row, count);
      const int64_t begin = rule_.mask.key_range(row, shape_.cols).begin;
      const int64_t end = rule_.mask.key_range(row + count - 1, shape_.cols).end;
      for (int64_t col = begin / kPanelWidth * kPanelWidth; col < end; col += kBlockCols) {
        const KeyRange part{col, std::min(col + kBlockCols, end)};
        const int64_t width = part.end - part.begin;
        const Block block{row, part, weights.mutable_matrix<float>().block(0, 0, count, width),
                          score_gradient.mutable_matrix<float>().block(0, 0, count, width)};
        tiles_.weights(row, part, lse_.subspan(static_cast<size_t>(row)), block.weights);
        if (wanted_.values) add_value_gradient(block, gradient);
        if (!wanted_.scores) continue;
        fill_score_gradient(block, means);
        add_score_gradients(block, gradient);
        add_position_terms(block, gradient);
      }
    }
    return gradient;
  }

 private:
  // D_i = sum_j P_ij dP_ij = dO_i . O_i
  std::vector<float> row_means(int64_t row, int64_t count) const {
    std::vector<float> means;
    for (int64_t r = row; r < row + count; ++r) {
      const float *out = out_.row(r), *gradient = out_gradient_.row(r);
      double mean = 0;
      for (int64_t f = 0; f < shape_.value_dim; ++f) mean += double{out[f]} * double{gradient[f]};
      means.push_back(static_cast<float>(mean));
    }
    return means;
  }

  void fill_score_gradient(const Block& block, const std::vector<float>& means) const {
    const int64_t rows = block.weights.rows, cols = block.weights.cols;
    matmul(out_gradient_.rows(block.row, rows), values_.rows(block.part.begin, cols),
           block.score_gradient, {.transpose_b = true});
    Tensor scores;
    if (rule_.soft_cap > 0) {
      scores = Tensor::uninitialized({rows, cols});
      tiles_.scores(block.row, block.part, scores.mutable_matrix<float>());
    }
    for (int64_t r = 0; r < rows; ++r) {
      const float mean = means[static_cast<size_t>(r)];
      const float* weight = block.weights.row(r);
      float* gradient = block.score_gradient.row(r);
      for (int64_t c = 0; c < cols; ++c) gradient[c] = weight[c] * (gradient[c] - mean);
      if (rule_.soft_cap == 0) continue;
      for (int64_t c = 0; c < cols; ++c) {  // d tanh
        if (weight[c] == 0) continue;
        const float ratio = scores.matrix<float>()(r, c) / rule_.soft_cap;
        gradient[c] *= 1 - ratio * ratio;
      }
    }
  }

  void add_value_gradient(const Block& block, HeadGradient& gradient) const {
    const int64_t rows = block.weights.rows, cols = block.weights.cols;
    matmul(
        block.weights, out_gradient_.rows(block.row, rows),
        gradient.values.mutable_matrix<float>().block(block.part.begin, 0, cols, shape_.value_dim),
        {.transpose_a = true, .beta = 1});
  }

  void add_score_gradients(const Block& block, HeadGradient& gradient) const {
    const int64_t rows = block.weights.rows, cols = block.weights.cols;
    const float scale = rule_.scale;
    matmul(block.score_gradient, keys_.rows(block.part.begin, cols),
           gradient.queries.mutable_matrix<float>().block(block.row, 0, rows, shape_.head_dim),
           {.alpha = scale, .beta = 1});
    matmul(block.score_gradient, queries_.rows(block.row, rows),
           gradient.keys.mutable_matrix<float>().block(block.part.begin, 0, cols, shape_.head_dim),
           {.transpose_a = true, .alpha = scale, .beta = 1});
  }

  // Disentangled attention: the scores also hold q . keys[e] and k . queries[e].
  void add_position_terms(const Block& block, HeadGradient& gradient) const {
    const auto* tables = std::get_if<PositionTables>(&rule_.bias);
    if (tables == nullptr) return;
    const auto add = [&](const Tensor& table, int64_t entry, float factor, float* to) {
      const float* from = table.matrix<float>(head_).row(entry);
      for (int64_t d = 0; d < shape_.head_dim; ++d) to[d] += factor * from[d];
    };
    const MatrixView<float> query_gradient = gradient.queries.mutable_matrix<float>();
    const MatrixView<float> key_gradient = gradient.keys.mutable_matrix<float>();
    for (int64_t r = 0; r < block.weights.rows; ++r) {
      const int64_t i = block.row + r;
      for (int64_t c = 0; c < block.weights.cols; ++c) {
        const int64_t j = block.part.begin + c;
        const float factor = rule_.scale * block.score_gradient(r, c);
        const int32_t entry = tables->index[static_cast<size_t>(j - i + shape_.rows - 1)];
        if (!tables->keys.empty()) add(tables->keys, entry, factor, query_gradient.row(i));
        if (!tables->queries.empty()) add(tables->queries, entry, factor, key_gradient.row(j));
      }
    }
  }

  AttentionShape shape_;
  const ScoreRule& rule_;
  int64_t head_;
  WantedGradients wanted_;
  HeadMatrix queries_, keys_, values_, out_, out_gradient_;
  std::span<const double> lse_;  // of this head
  HeadTiles tiles_;
};

void add_to(MatrixView<float> sum, const Tensor& tensor) {
  const auto values = tensor.values<float>();
  add_arrays({sum.data, values.size()}, values, {sum.data, values.size()});
}

}  // namespace

AttentionGradients attention_backward(const AttentionInputs& inputs, const HeadsView& out,
                                      std::span<const double> lse, const HeadsView& out_gradient,
                                      WantedGradients wanted) {
  const AttentionShape shape = inputs.shape();
  std::vector<HeadGradient> heads(static_cast<size_t>(shape.heads));
  parallel_for(shape.heads, [&](int64_t head) {
    const auto head_lse =
        lse.subspan(static_cast<size_t>(head * shape.rows), static_cast<size_t>(shape.rows));
    heads[static_cast<size_t>(head)] =
        HeadBackward(inputs, head, out, head_lse, out_gradient, wanted).run();
  });
  AttentionGradients total;
  if (wanted.scores) {
    total.queries = Tensor(Shape{shape.heads, shape.rows, shape.head_dim});
    total.keys = Tensor(Shape{shape.kv_heads, shape.cols, shape.head_dim});
  }
  if (wanted.values) total.values = Tensor(Shape{shape.kv_heads, shape.cols, shape.value_dim});
  // Query heads that share a key head add up.
  for (int64_t head = 0; head < shape.heads; ++head) {
    const HeadGradient& gradient = heads[static_cast<size_t>(head)];
    const int64_t kv_head = shape.kv_head(head);
    if (wanted.scores) {
      add_to(total.queries.mutable_matrix<float>(head), gradient.queries);
      add_to(total.keys.mutable_matrix<float>(kv_head), gradient.keys);
    }
    if (wanted.values) add_to(total.values.mutable_matrix<float>(kv_head), gradient.values);
  }
  return total;
}

}  // namespace fovea
