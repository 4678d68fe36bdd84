#include "fovea/kernels/matmul.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/fixed_product.h"
#include "fovea/kernels/onednn.h"
#include "fovea/kernels/parallel_rows.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

using onednn::Desc;
using onednn::Tag;

// Everything a primitive is made for; a change in any of it needs another one.
Desc rows_desc(int64_t rows, int64_t cols, int64_t stride) {
  return {{rows, cols}, onednn::kF32, onednn::Dims{stride, 1}};
}

void check_weight(const Tensor& weight) {
  const DType type = weight.dtype();
  if (weight.rank() != 2 || weight.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "weights of shape {} cannot be packed; they must be a matrix that is not empty",
         to_string(weight.shape()));
  }
  if (type != DType::kF32 && type != DType::kBF16 && type != DType::kF16) {
    fail(ErrorKind::kInvalidArgument, "weights of {} cannot be packed; F32, BF16 and F16 can",
         dtype_name(type));
  }
}

// Up to some 50 microseconds of one core: 100 GFLOP/s, 25 GB/s from the caches.
bool is_small(int64_t rows, int64_t in, int64_t out) {
  constexpr int64_t kProducts = 2'500'000, kWeights = 300'000;
  return rows * in * out <= kProducts && in * out <= kWeights;
}

// Calls body(first row, rows) so that all rows are covered once, in blocks of some 20 milliseconds
// of a few cores: between them the work can be cancelled. A block has so many rows that dividing
// costs nothing; all but the last have the same.
template <typename Body>
void for_row_blocks(int64_t rows, int64_t row_products, const Body& body) {
  constexpr int64_t kBlockProducts = 2'000'000'000, kLeastRows = 64;
  const int64_t most = std::max(kLeastRows, kBlockProducts / row_products);
  const int64_t blocks = (rows + most - 1) / most;
  const int64_t step = ((rows + blocks - 1) / blocks + 15) / 16 * 16;
  for (int64_t row = 0; row < rows; row += step) body(row, std::min(step, rows - row));
}

// Row by row of [out, in].
FixedWeights fixed_weights(const Tensor& weight, int64_t out, int64_t in, WeightLayout layout) {
  const Tensor values = convert(weight, DType::kF32);
  const MatrixView<const float> matrix = values.matrix<float>();
  return FixedWeights(out, 1, in, [&](int64_t column, float* to) {
    if (layout == WeightLayout::kOutIn) {
      std::copy_n(matrix.row(column), in, to);
    } else {
      for (int64_t i = 0; i < in; ++i) to[i] = matrix(i, column);
    }
  });
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
  struct PlanKey {
    int64_t rows;
    int64_t x_stride;
    int64_t out_stride;
    int64_t residual_stride;  // 0: no residual; -1: the output itself
    Activation activation;
    bool has_bias;
    int threads;  // oneDNN divides the work when it makes a primitive
    bool operator==(const PlanKey&) const = default;
  };

  struct Plan {
    dnnl::matmul primitive;
    Desc source, bias, destination, residual, scratchpad;
    int residual_argument = 0;
  };

  // Row counts change from call to call (prompts, single tokens); these are the kinds of call that
  // one matrix sees at a time. oneDNN itself keeps the compiled code of many more.
  static constexpr size_t kPlans = 16;

  int64_t in = 0;
  int64_t out = 0;
  std::optional<FixedWeights> fixed;  // and then none of the others
  Desc desc;
  Tensor packed;  // bytes in the layout of `desc`
  onednn::RecentlyUsed<PlanKey, Plan> plans{kPlans};

  Desc plain_desc(WeightLayout layout) const {
    return {{in, out}, onednn::kF32, layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab};
  }
  void pack(const Tensor& weight, WeightLayout layout);
  Plan make_plan(const PlanKey& key) const;
  // As PackedMatrix::apply(), whatever it costs.
  void apply(MatrixView<const float> x, const Epilogue& epilogue, MatrixView<float> to);
};

void PackedMatrix::State::pack(const Tensor& weight, WeightLayout layout) {
  constexpr int64_t kTypicalRows = 512;  // the layout for this many serves all others as well
  const Desc any({in, out}, onednn::kF32, Tag::any);
  desc = onednn::matmul_desc(rows_desc(kTypicalRows, in, in), any, nullptr,
                             rows_desc(kTypicalRows, out, out), onednn::make_attributes())
             .weights_desc();
  packed = Tensor::uninitialized({static_cast<int64_t>(desc.get_size())}, DType::kU8);
  const Tensor plain = convert(weight, DType::kF32);
  onednn::reorder(plain_desc(layout), plain.raw(), desc, packed.mutable_raw());
}

PackedMatrix::State::Plan PackedMatrix::State::make_plan(const PlanKey& key) const {
  Plan plan;
  plan.source = rows_desc(key.rows, in, key.x_stride);
  plan.bias = rows_desc(1, out, out);
  plan.destination = rows_desc(key.rows, out, key.out_stride);
  dnnl::post_ops post_ops;
  onednn::append_activation(post_ops, key.activation);
  if (key.residual_stride == -1) {
    post_ops.append_sum(1.0f);
  } else if (key.residual_stride > 0) {
    plan.residual = rows_desc(key.rows, out, key.residual_stride);
    plan.residual_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops.len()) | DNNL_ARG_SRC_1;
    post_ops.append_binary(dnnl::algorithm::binary_add, plan.residual);
  }
  const auto primitive_desc =
      onednn::matmul_desc(plan.source, desc, key.has_bias ? &plan.bias : nullptr, plan.destination,
                          onednn::make_attributes(post_ops));
  plan.scratchpad = primitive_desc.scratchpad_desc();
  plan.primitive = dnnl::matmul(primitive_desc);
  return plan;
}

PackedMatrix::PackedMatrix(const Tensor& weight, DType compute, WeightLayout layout)
    : state_(std::make_shared<State>()) {
  check_weight(weight);
  const bool out_first = layout == WeightLayout::kOutIn;
  state_->out = weight.size(out_first ? 0 : 1);
  state_->in = weight.size(out_first ? 1 : 0);
  if (usable_compute_dtype(compute) == DType::kI16) {
    state_->fixed = fixed_weights(weight, out(), in(), layout);
    return;
  }
  onednn::guarded("packing of weights", [&] { state_->pack(weight, layout); });
}

int64_t PackedMatrix::in() const {
  return state_->in;
}
int64_t PackedMatrix::out() const {
  return state_->out;
}
DType PackedMatrix::compute_dtype() const {
  return state_->fixed ? DType::kI16 : DType::kF32;
}
size_t PackedMatrix::bytes() const {
  return state_->fixed ? state_->fixed->bytes() : state_->packed.bytes();
}

Tensor PackedMatrix::unpack() const {
  Tensor plain = Tensor::uninitialized({out(), in()});
  if (state_->fixed) {
    for (int64_t r = 0; r < out(); ++r)
      state_->fixed->read(r, plain.mutable_matrix<float>().row(r));
    return plain;
  }
  onednn::guarded("unpacking of weights", [&] {
    onednn::reorder(state_->desc, state_->packed.raw(), state_->plain_desc(WeightLayout::kOutIn),
                    plain.mutable_raw());
  });
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
  if (state.fixed) return apply_fixed(*state.fixed, x, epilogue, out);
  for_row_blocks(x.rows, state.in * state.out, [&](int64_t row, int64_t rows) {
    Epilogue part = epilogue;
    if (has_residual) part.residual = residual.block(row, 0, rows, residual.cols);
    state_->apply(x.block(row, 0, rows, x.cols), part, out.block(row, 0, rows, out.cols));
  });
}

void PackedMatrix::State::apply(MatrixView<const float> x, const Epilogue& epilogue,
                                MatrixView<float> to) {
  const MatrixView<const float> residual = epilogue.residual;
  const bool has_residual = residual.data != nullptr;
  const bool in_place = has_residual && residual.data == to.data && residual.stride == to.stride;
  PlanKey key{.rows = x.rows,
              .x_stride = x.stride,
              .out_stride = to.stride,
              .residual_stride = in_place ? -1 : (has_residual ? residual.stride : 0),
              .activation = epilogue.activation,
              .has_bias = !epilogue.bias.empty(),
              .threads = 1};
  onednn::guarded("matrix product", [&] {
    key.threads = thread_count();
    const auto plan = plans.get(key, [&] { return make_plan(key); });
    onednn::Arguments arguments{{DNNL_ARG_SRC, onednn::wrap(plan->source, x.data)},
                                {DNNL_ARG_WEIGHTS, onednn::wrap(desc, packed.raw())},
                                {DNNL_ARG_DST, onednn::wrap(plan->destination, to.data)}};
    if (key.has_bias) {
      arguments.emplace(DNNL_ARG_BIAS, onednn::wrap(plan->bias, epilogue.bias.data()));
    }
    if (plan->residual_argument != 0) {
      arguments.emplace(plan->residual_argument, onednn::wrap(plan->residual, residual.data));
    }
    onednn::execute(plan->primitive, plan->scratchpad, std::move(arguments));
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
