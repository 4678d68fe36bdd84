#include "fovea/kernels/matmul.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/fixed_product.h"
#include "fovea/kernels/onednn.h"
#include "fovea/kernels/onednn_product.h"
#include "fovea/kernels/parallel_rows.h"
#include "fovea/kernels/row_blocks.h"
#include "fovea/kernels/stored_product.h"

namespace fovea {
namespace {

// Up to some 50 microseconds of one core: 100 GFLOP/s, 25 GB/s from the caches.
bool is_small(int64_t rows, int64_t in, int64_t out) {
  constexpr int64_t kProducts = 2'500'000, kWeights = 300'000;
  return rows * in * out <= kProducts && in * out <= kWeights;
}

// Row by row of [out, in].
FixedWeights fixed_weights(const Tensor& weight, int64_t out, int64_t in, WeightLayout layout) {
  const MatrixView<const float> matrix = weight.matrix<float>();
  return FixedWeights(out, 1, in, [&](int64_t column, float* to) {
    if (layout == WeightLayout::kOutIn) {
      std::copy_n(matrix.row(column), in, to);
    } else {
      for (int64_t i = 0; i < in; ++i) to[i] = matrix(i, column);
    }
  });
}

// Whether the rows lie one after the other.
bool rows_in_order(const StoredMatrix& weight) {
  return weight.is_transposed() || weight.rows() < 2 ||
         weight.row(1) - weight.row(0) == weight.row_bytes();
}

void apply_fixed(const FixedWeights& weights, MatrixView<const float> x, const Epilogue& epilogue,
                 MatrixView<float> out) {
  FixedRows rows(x.rows, x.cols);
  parallel_rows(x.rows, x.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) rows.set(r, x.row(r));
  });
  fixed_products(rows, {.length = x.rows}, weights,
                 {.bias = epilogue.bias,
                  .activation = epilogue.activation,
                  .residual = epilogue.residual.data,
                  .residual_row_step = epilogue.residual.stride,
                  .data = out.data,
                  .row_step = out.stride});
}

}  // namespace

struct PackedMatrix::State {
  // One of the three.
  std::optional<FixedWeights> fixed;
  std::optional<StoredProduct> stored;
  std::optional<OnednnProduct> product;
  Tensor packed;  // in the layout of `product`
  int64_t in = 0;
  int64_t out = 0;
};

PackedMatrix::PackedMatrix(const StoredMatrix& weight, DType compute, WeightLayout layout)
    : PackedMatrix(weight, compute, layout,
                   weight.format() != StoredFormat::kF32 || !rows_in_order(weight)) {}

PackedMatrix PackedMatrix::as_stored(const StoredMatrix& weight, DType compute) {
  return PackedMatrix(weight, compute, WeightLayout::kOutIn, true);
}

PackedMatrix::PackedMatrix(const StoredMatrix& weight, DType compute, WeightLayout layout,
                           bool as_stored)
    : state_(std::make_shared<State>()) {
  if (weight.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "weights of shape {} cannot be multiplied with; they are empty",
         to_string(weight.shape()));
  }
  const StoredMatrix out_in = layout == WeightLayout::kOutIn ? weight : weight.transposed();
  state_->out = out_in.rows();
  state_->in = out_in.cols();
  const DType usable = usable_compute_dtype(compute);
  const WeightLayout lies = out_in.is_transposed() ? WeightLayout::kInOut : WeightLayout::kOutIn;
  if (as_stored) {
    state_->stored.emplace(out_in, usable);
  } else if (usable == DType::kI16) {
    state_->fixed = fixed_weights(out_in.numbers(), out(), in(), lies);
  } else {
    state_->product.emplace(in(), out());
    state_->packed =
        Tensor::uninitialized({static_cast<int64_t>(state_->product->packed_bytes())}, DType::kU8);
    state_->product->pack(out_in.numbers().values<float>().data(), lies,
                          state_->packed.mutable_raw());
  }
}

int64_t PackedMatrix::in() const {
  return state_->in;
}
int64_t PackedMatrix::out() const {
  return state_->out;
}
DType PackedMatrix::compute_dtype() const {
  if (state_->stored) return state_->stored->compute();
  return state_->fixed ? DType::kI16 : DType::kF32;
}
size_t PackedMatrix::bytes() const {
  if (state_->stored) return state_->stored->weight().bytes();
  return state_->fixed ? state_->fixed->bytes() : state_->packed.bytes();
}

Tensor PackedMatrix::unpack() const {
  if (state_->stored) return state_->stored->unpack();
  Tensor plain = Tensor::uninitialized({out(), in()});
  if (state_->fixed) {
    for (int64_t r = 0; r < out(); ++r)
      state_->fixed->read(r, plain.mutable_matrix<float>().row(r));
  } else {
    state_->product->unpack(state_->packed.raw(), plain.mutable_values<float>().data());
  }
  return plain;
}

void PackedMatrix::apply(MatrixView<const float> x, const Epilogue& epilogue,
                         MatrixView<float> out) const {
  const State& state = *state_;
  const MatrixView<const float> residual = epilogue.residual;
  const bool has_residual = residual.data != nullptr;
  if (x.cols != state.in || out.cols != state.out || out.rows != x.rows) {
    fail(ErrorKind::kInvalidArgument,
         "[{}, {}] times weights [{}, {}] into [{}, {}]: columns must be {} and {}, rows the same",
         x.rows, x.cols, state.out, state.in, out.rows, out.cols, state.in, state.out);
  }
  if ((!epilogue.bias.empty() && static_cast<int64_t>(epilogue.bias.size()) != state.out) ||
      (has_residual && (residual.rows != x.rows || residual.cols != state.out))) {
    fail(ErrorKind::kInvalidArgument,
         "a bias of {} and a residual of [{}, {}] do not fit an output of [{}, {}]",
         epilogue.bias.size(), residual.rows, residual.cols, out.rows, out.cols);
  }
  if (x.rows == 0) return;

  const SingleThread one(is_small(x.rows, state.in, state.out));
  if (state.stored) return state.stored->apply(x, epilogue, out);
  if (state.fixed) return apply_fixed(*state.fixed, x, epilogue, out);
  for_row_blocks(x.rows, state.in * state.out, [&](int64_t row, int64_t rows) {
    Epilogue part = epilogue;
    if (has_residual) part.residual = residual.block(row, 0, rows, residual.cols);
    state.product->apply(state.packed.raw(), x.block(row, 0, rows, x.cols), part,
                         out.block(row, 0, rows, out.cols));
  });
}

void matmul(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> out,
            const MatmulOptions& options) {
  const int64_t rows = options.transpose_a ? a.cols : a.rows;
  const int64_t depth = options.transpose_a ? a.rows : a.cols;
  const int64_t b_depth = options.transpose_b ? b.cols : b.rows;
  const int64_t cols = options.transpose_b ? b.rows : b.cols;
  if (depth != b_depth || out.rows != rows || out.cols != cols) {
    fail(ErrorKind::kInvalidArgument,
         "[{}, {}] times [{}, {}] into [{}, {}]: the inner sizes must agree and the outer ones be "
         "the output's",
         rows, depth, b_depth, cols, out.rows, out.cols);
  }
  if (rows == 0 || cols == 0) return;
  if (depth == 0) {
    for (int64_t r = 0; r < rows; ++r) {
      std::transform(out.row(r), out.row(r) + cols, out.row(r),
                     [&](float value) { return options.beta == 0 ? 0.0f : options.beta * value; });
    }
    return;
  }
  for_row_blocks(rows, depth * cols, [&](int64_t row, int64_t count) {
    const float* from = a.data + row * (options.transpose_a ? 1 : a.stride);
    const dnnl_status_t status = onednn::guarded("matrix product", [&] {
      check_cancelled();
      return dnnl_sgemm(options.transpose_a ? 'T' : 'N', options.transpose_b ? 'T' : 'N', count,
                        cols, depth, options.alpha, from, a.stride, b.data, b.stride, options.beta,
                        out.row(row), out.stride);
    });
    if (status != dnnl_success) {
      fail(ErrorKind::kInternal,
           "oneDNN could not multiply [{}, {}] by [{}, {}] (status {}); please report this", rows,
           depth, depth, cols, static_cast<int>(status));
    }
  });
}

}  // namespace fovea
