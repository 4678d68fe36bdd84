#include "fovea/kernels/matmul.h"

#include <algorithm>
#include <utility>

#include "fovea/base/parallel.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/onednn.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

using onednn::Desc;
using onednn::Tag;

// Everything a primitive is made for; a change in any of it needs another one.
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

Desc rows_desc(int64_t rows, int64_t cols, int64_t stride, dnnl::memory::data_type type) {
  return {{rows, cols}, type, onednn::Dims{stride, 1}};
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

}  // namespace

struct PackedMatrix::State {
  // Row counts change from call to call (prompts, single tokens); these are the kinds of call that
  // one matrix sees at a time. oneDNN itself keeps the compiled code of many more.
  static constexpr size_t kPlans = 16;

  int64_t in = 0;
  int64_t out = 0;
  DType compute = DType::kF32;
  Desc desc;
  Tensor packed;  // bytes in the layout of `desc`
  onednn::RecentlyUsed<PlanKey, Plan> plans{kPlans};

  dnnl::memory::data_type type() const { return onednn::data_type(compute); }
  Desc plain_desc(WeightLayout layout) const {
    return {{in, out}, type(), layout == WeightLayout::kOutIn ? Tag::ba : Tag::ab};
  }
  void pack(const Tensor& weight, WeightLayout layout);
  Plan make_plan(const PlanKey& key) const;
};

void PackedMatrix::State::pack(const Tensor& weight, WeightLayout layout) {
  constexpr int64_t kTypicalRows = 512;  // the layout for this many serves all others as well
  const Desc any({in, out}, type(), Tag::any);
  desc = onednn::matmul_desc(rows_desc(kTypicalRows, in, in, type()), any, nullptr,
                             rows_desc(kTypicalRows, out, out, onednn::kF32),
                             onednn::make_attributes())
             .weights_desc();
  packed = Tensor::uninitialized({static_cast<int64_t>(desc.get_size())}, DType::kU8);
  Tensor plain = weight;
  if (weight.dtype() == DType::kF32 && compute == DType::kBF16) {
    plain = Tensor::uninitialized(weight.shape(), DType::kBF16);
    round_to_bf16(weight.matrix<float>(), plain.mutable_matrix<BF16>());
  } else {
    plain = convert(weight, compute);
  }
  onednn::reorder(plain_desc(layout), plain.raw(), desc, packed.mutable_raw());
}

Plan PackedMatrix::State::make_plan(const PlanKey& key) const {
  Plan plan;
  plan.source = rows_desc(key.rows, in, key.x_stride, type());
  plan.bias = rows_desc(1, out, out, onednn::kF32);
  plan.destination = rows_desc(key.rows, out, key.out_stride, onednn::kF32);
  dnnl::post_ops post_ops;
  onednn::append_activation(post_ops, key.activation);
  if (key.residual_stride == -1) {
    post_ops.append_sum(1.0f);
  } else if (key.residual_stride > 0) {
    plan.residual = rows_desc(key.rows, out, key.residual_stride, onednn::kF32);
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
  state_->compute = onednn::usable_compute_dtype(compute);
  onednn::guarded("packing of weights", [&] { state_->pack(weight, layout); });
}

int64_t PackedMatrix::in() const {
  return state_->in;
}
int64_t PackedMatrix::out() const {
  return state_->out;
}
DType PackedMatrix::compute_dtype() const {
  return state_->compute;
}
size_t PackedMatrix::bytes() const {
  return state_->packed.bytes();
}

Tensor PackedMatrix::unpack() const {
  Tensor plain = Tensor::uninitialized({out(), in()}, compute_dtype());
  onednn::guarded("unpacking of weights", [&] {
    onednn::reorder(state_->desc, state_->packed.raw(), state_->plain_desc(WeightLayout::kOutIn),
                    plain.mutable_raw());
  });
  return convert(plain, DType::kF32);
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

  Tensor rounded;
  const void* source = x.data;
  int64_t source_stride = x.stride;
  if (state.compute == DType::kBF16) {
    rounded = Tensor::uninitialized({x.rows, x.cols}, DType::kBF16);
    round_to_bf16(x, rounded.mutable_matrix<BF16>());
    source = rounded.raw();
    source_stride = x.cols;
  }
  const SingleThread one(is_small(x.rows, state.in, state.out));
  const bool in_place = has_residual && residual.data == out.data && residual.stride == out.stride;
  const PlanKey key{.rows = x.rows,
                    .x_stride = source_stride,
                    .out_stride = out.stride,
                    .residual_stride = in_place ? -1 : (has_residual ? residual.stride : 0),
                    .activation = epilogue.activation,
                    .has_bias = !epilogue.bias.empty(),
                    .threads = thread_count()};
  onednn::guarded("matrix product", [&] {
    const auto plan = state_->plans.get(key, [&] { return state.make_plan(key); });
    onednn::Arguments arguments{{DNNL_ARG_SRC, onednn::wrap(plan->source, source)},
                                {DNNL_ARG_WEIGHTS, onednn::wrap(state.desc, state.packed.raw())},
                                {DNNL_ARG_DST, onednn::wrap(plan->destination, out.data)}};
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
  const auto [rows, depth] =
      options.transpose_a ? std::pair(a.cols, a.rows) : std::pair(a.rows, a.cols);
  const auto [b_depth, cols] =
      options.transpose_b ? std::pair(b.cols, b.rows) : std::pair(b.rows, b.cols);
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
  const dnnl_status_t status = dnnl_sgemm(
      options.transpose_a ? 'T' : 'N', options.transpose_b ? 'T' : 'N', rows, cols, depth,
      options.alpha, a.data, a.stride, b.data, b.stride, options.beta, out.data, out.stride);
  if (status != dnnl_success) {
    fail(ErrorKind::kInternal,
         "oneDNN could not multiply [{}, {}] by [{}, {}] (status {}); please report this", rows,
         depth, depth, cols, static_cast<int>(status));
  }
}

}  // namespace fovea
