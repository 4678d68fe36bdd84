#include "fovea/kernels/attention_backward.h"

#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/kernels/matmul.h"

namespace fovea {
namespace {

constexpr int64_t kBlockRows = 64;
constexpr int64_t kBlockCols = 256;

// Rows [first, first + count) of a head as an f32 matrix.
Tensor rows_of(const HeadsView& view, int64_t head, int64_t first, int64_t count) {
  Tensor rows = Tensor::uninitialized({count, view.dim});
  for (int64_t r = 0; r < count; ++r) {
    view.read_row(head, first + r, 1, rows.mutable_matrix<float>().row(r));
  }
  return rows;
}

// What one head adds to the gradients.
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
               std::span<const double> lse, const HeadsView& out_gradient)
      : inputs_(inputs),
        shape_(inputs.shape()),
        rule_(*inputs.rule),
        head_(head),
        kv_head_(shape_.kv_head(head)),
        out_(out),
        lse_(lse),
        out_gradient_(out_gradient),
        tiles_(inputs, head, {0, shape_.cols}) {}

  HeadGradient run(const CancelToken& cancel) {
    HeadGradient gradient{Tensor(Shape{shape_.rows, shape_.head_dim}),
                          Tensor(Shape{shape_.cols, shape_.head_dim}),
                          Tensor(Shape{shape_.cols, shape_.value_dim})};
    Tensor weights = Tensor::uninitialized({kBlockRows, kBlockCols});
    Tensor score_gradient = Tensor::uninitialized({kBlockRows, kBlockCols});
    for (int64_t row = 0; row < shape_.rows; row += kBlockRows) {
      const int64_t count = std::min(shape_.rows - row, kBlockRows);
      const int64_t begin = rule_.mask.key_range(row, shape_.cols).begin;
      const int64_t end = rule_.mask.key_range(row + count - 1, shape_.cols).end;
      for (int64_t col = begin / kPanelWidth * kPanelWidth; col < end; col += kBlockCols) {
        cancel.check();
        const KeyRange part{col, std::min(col + kBlockCols, shape_.cols)};
        const int64_t width = part.end - part.begin;
        const Block block{row, part, weights.mutable_matrix<float>().block(0, 0, count, width),
                          score_gradient.mutable_matrix<float>().block(0, 0, count, width)};
        fill(block);
        add_products(block, gradient);
        add_position_terms(block, gradient);
      }
    }
    return gradient;
  }

 private:
  void fill(const Block& block) {
    tiles_.weights(block.row, block.part, lse_.subspan(static_cast<size_t>(block.row)),
                   block.weights);
    dot_tile(out_gradient_, head_, block.row, inputs_.values, kv_head_, block.part,
             block.score_gradient);
    Tensor scores;
    if (rule_.soft_cap > 0) {
      scores = Tensor::uninitialized({block.weights.rows, block.weights.cols});
      tiles_.scores(block.row, block.part, scores.mutable_matrix<float>());
    }
    const Tensor out_rows = rows_of(out_, head_, block.row, block.weights.rows);
    const Tensor gradient_rows = rows_of(out_gradient_, head_, block.row, block.weights.rows);
    for (int64_t r = 0; r < block.weights.rows; ++r) {
      double mean = 0;  // D_i = sum_j P_ij dP_ij = dO_i . O_i
      for (int64_t f = 0; f < shape_.value_dim; ++f) {
        mean +=
            double{out_rows.matrix<float>()(r, f)} * double{gradient_rows.matrix<float>()(r, f)};
      }
      for (int64_t c = 0; c < block.weights.cols; ++c) {
        float& gradient = block.score_gradient(r, c);
        gradient = block.weights(r, c) * (gradient - static_cast<float>(mean));
        if (rule_.soft_cap > 0 && block.weights(r, c) > 0) {  // d tanh
          const float ratio = scores.matrix<float>()(r, c) / rule_.soft_cap;
          gradient *= 1 - ratio * ratio;
        }
      }
    }
  }

  void add_products(const Block& block, HeadGradient& gradient) {
    const int64_t rows = block.weights.rows;
    const int64_t cols = block.weights.cols;
    const Tensor queries = rows_of(inputs_.queries, head_, block.row, rows);
    const Tensor keys = rows_of(inputs_.keys, kv_head_, block.part.begin, cols);
    const Tensor out_gradient = rows_of(out_gradient_, head_, block.row, rows);
    const float scale = rule_.scale;
    matmul(block.score_gradient, keys.matrix<float>(),
           gradient.queries.mutable_matrix<float>().block(block.row, 0, rows, shape_.head_dim),
           {.alpha = scale, .beta = 1});
    matmul(block.score_gradient, queries.matrix<float>(),
           gradient.keys.mutable_matrix<float>().block(block.part.begin, 0, cols, shape_.head_dim),
           {.transpose_a = true, .alpha = scale, .beta = 1});
    matmul(
        block.weights, out_gradient.matrix<float>(),
        gradient.values.mutable_matrix<float>().block(block.part.begin, 0, cols, shape_.value_dim),
        {.transpose_a = true, .beta = 1});
  }

  // Disentangled attention: the scores also hold q . keys[e] and k . queries[e].
  void add_position_terms(const Block& block, HeadGradient& gradient) {
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

  const AttentionInputs& inputs_;
  AttentionShape shape_;
  const ScoreRule& rule_;
  int64_t head_;
  int64_t kv_head_;
  const HeadsView& out_;
  std::span<const double> lse_;  // of this head
  const HeadsView& out_gradient_;
  HeadTiles tiles_;
};

void add_to(MatrixView<float> sum, const Tensor& tensor) {
  const auto values = tensor.values<float>();
  for (size_t i = 0; i < values.size(); ++i) sum.data[i] += values[i];
}

}  // namespace

AttentionGradients attention_backward(const AttentionInputs& inputs, const HeadsView& out,
                                      std::span<const double> lse, const HeadsView& out_gradient,
                                      const CancelToken& cancel) {
  const AttentionShape shape = inputs.shape();
  std::vector<HeadGradient> heads(static_cast<size_t>(shape.heads));
  parallel_for(shape.heads, [&](int64_t head) {
    const auto head_lse =
        lse.subspan(static_cast<size_t>(head * shape.rows), static_cast<size_t>(shape.rows));
    heads[static_cast<size_t>(head)] =
        HeadBackward(inputs, head, out, head_lse, out_gradient).run(cancel);
  });
  AttentionGradients total{Tensor(Shape{shape.heads, shape.rows, shape.head_dim}),
                           Tensor(Shape{shape.kv_heads, shape.cols, shape.head_dim}),
                           Tensor(Shape{shape.kv_heads, shape.cols, shape.value_dim})};
  // Query heads that share a key head add up.
  for (int64_t head = 0; head < shape.heads; ++head) {
    const HeadGradient& gradient = heads[static_cast<size_t>(head)];
    add_to(total.queries.mutable_matrix<float>(head), gradient.queries);
    add_to(total.keys.mutable_matrix<float>(shape.kv_head(head)), gradient.keys);
    add_to(total.values.mutable_matrix<float>(shape.kv_head(head)), gradient.values);
  }
  return total;
}

}  // namespace fovea
