#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "fovea/base/parallel.h"
#include "fovea/kernels/conv.h"
#include "fovea/kernels/conv_layout.h"
#include "fovea/kernels/fixed_conv.h"
#include "fovea/kernels/matmul.h"
#include "fovea/kernels/parallel_rows.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

using onednn::Desc;
using onednn::Tag;

// A 1 x 1 kernel that leaves pixels out. Of blocked images those are taken out first: with an odd
// width oneDNN has only a general form for the whole, which is five times slower.
bool skips_pixels(const Shape& weight, const ConvGeometry& geometry) {
  return weight[2] == 1 && weight[3] == 1 && geometry.stride != std::array<int64_t, 2>{1, 1} &&
         geometry.padding == std::array<int64_t, 2>{0, 0};
}

Tensor apply_pointwise(const Tensor& input, const Tensor& weight, const Tensor& bias, bool relu) {
  const int64_t batch = input.size(0), in = input.size(1), out = weight.size(0);
  const int64_t pixels = input.size(2) * input.size(3);
  Tensor result = Tensor::uninitialized({batch, out, input.size(2), input.size(3)});
  float* to = result.mutable_values<float>().data();
  const MatrixView<const float> matrix(weight.values<float>().data(), out, in);
  for (int64_t image = 0; image < batch; ++image) {
    matmul(matrix, {input.values<float>().data() + image * in * pixels, in, pixels},
           {to + image * out * pixels, out, pixels});
  }
  if (bias.empty() && !relu) return result;
  const float lowest = relu ? 0.0f : -std::numeric_limits<float>::infinity();
  parallel_rows(batch * out, pixels, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float shift = bias.empty() ? 0.0f : bias.values<float>()[static_cast<size_t>(r % out)];
      for (float* at = to + r * pixels; at < to + (r + 1) * pixels; ++at) {
        const float value = *at + shift;
        *at = value < lowest ? lowest : value;  // NaN stays
      }
    }
  });
  return result;
}

}  // namespace

struct PackedConv::State {
  // One primitive for each size of image; a detector sees few sizes at a time.
  static constexpr size_t kPlans = 8;

  struct Key {
    Shape input;
    bool blocked;                // from BlockedImage to BlockedImage
    std::optional<Desc> layout;  // of the input; none: whatever is fastest
    bool relu;
    bool residual;
    int threads;
    bool operator==(const Key&) const = default;
  };
  struct Plan {
    dnnl::convolution_forward primitive;
    Desc source, weights, destination, scratchpad;
  };
  struct Weights {
    Desc desc;
    Tensor packed;
  };

  Shape shape;
  ConvGeometry geometry;
  Tensor bias;                        // f32 [out] or empty
  std::optional<FixedWeights> fixed;  // and then no others
  onednn::RecentlyUsed<Key, Plan> plans{kPlans};
  std::mutex mutex;
  Weights weights;  // replaced when an image size wants another layout; guarded by `mutex`

  Desc plain_weights() const { return onednn::plain_weight(shape, geometry.groups); }
  Plan make_plan(const Key& key) const;
  std::shared_ptr<const Plan> plan(const Key& key) {
    return plans.get(key, [&] { return make_plan(key); });
  }
  Weights weights_as(const Desc& wanted);
  // Where the plan has a residual, `destination` holds it.
  void run(const Plan& plan, const Tensor& source, Tensor& destination);
};

PackedConv::State::Plan PackedConv::State::make_plan(const Key& key) const {
  ConvGeometry used = geometry;
  if (key.blocked && skips_pixels(shape, geometry)) used.stride = {1, 1};
  onednn::ConvDescs descs = onednn::free_conv_descs(key.input, shape, used);
  if (key.layout) descs.source = *key.layout;
  const Desc bias_desc({shape[0]}, onednn::kF32, Tag::a);
  if (!bias.empty()) descs.bias = &bias_desc;
  dnnl::post_ops post_ops;
  if (key.residual) post_ops.append_sum(1);
  if (key.relu) onednn::append_activation(post_ops, Activation::kRelu);
  const auto desc = onednn::conv_forward_desc(descs, onednn::make_attributes(post_ops));
  return {.primitive = dnnl::convolution_forward(desc),
          .source = desc.src_desc(),
          .weights = desc.weights_desc(),
          .destination = desc.dst_desc(),
          .scratchpad = desc.scratchpad_desc()};
}

PackedConv::State::Weights PackedConv::State::weights_as(const Desc& wanted) {
  const std::lock_guard lock(mutex);
  if (!(weights.desc == wanted)) {
    Tensor packed =
        onednn::layout_memory(shape, onednn::plain_weight(shape, geometry.groups), wanted);
    onednn::reorder(weights.desc, weights.packed.raw(), wanted, packed.mutable_raw());
    weights = {.desc = wanted, .packed = std::move(packed)};
  }
  return weights;
}

PackedConv::PackedConv(const Tensor& weight, Tensor bias, const ConvGeometry& geometry,
                       DType compute)
    : state_(std::make_shared<State>()) {
  check_geometry(geometry);
  if (weight.rank() != 4) {
    fail(ErrorKind::kInvalidArgument,
         "convolution weights of shape {}; they must be [out, in / groups, height, width]",
         to_string(weight.shape()));
  }
  // Any input that is as large as the kernel will do to check the rest.
  const Shape smallest{1, weight.size(1) * geometry.groups,
                       geometry.dilation[0] * (weight.size(2) - 1) + 1,
                       geometry.dilation[1] * (weight.size(3) - 1) + 1};
  conv_output_shape(smallest, weight.shape(), geometry);
  if (!bias.empty() && (bias.dtype() != DType::kF32 || !(bias.shape() == Shape{weight.size(0)}))) {
    fail(ErrorKind::kInvalidArgument, "a convolution bias is {} {} but must be F32 [{}]",
         dtype_name(bias.dtype()), to_string(bias.shape()), weight.size(0));
  }
  state_->shape = weight.shape();
  state_->geometry = geometry;
  state_->bias = std::move(bias);
  if (usable_compute_dtype(compute) == DType::kI16 && can_fix_conv(weight.shape(), geometry)) {
    state_->fixed = fix_conv_weights(weight);
    return;
  }
  // Plain until the first image tells which layout is fastest.
  state_->weights = {.desc = state_->plain_weights(), .packed = convert(weight, DType::kF32)};
}

const ConvGeometry& PackedConv::geometry() const {
  return state_->geometry;
}

DType PackedConv::compute_dtype() const {
  return state_->fixed ? DType::kI16 : DType::kF32;
}

void PackedConv::State::run(const Plan& plan, const Tensor& source, Tensor& destination) {
  const Weights packed = weights_as(plan.weights);
  onednn::Arguments arguments{
      {DNNL_ARG_SRC, onednn::wrap(plan.source, source.raw())},
      {DNNL_ARG_WEIGHTS, onednn::wrap(packed.desc, packed.packed.raw())},
      {DNNL_ARG_DST, onednn::wrap(plan.destination, destination.mutable_raw())}};
  if (!bias.empty()) {
    const Desc bias_desc({shape[0]}, onednn::kF32, Tag::a);
    arguments.emplace(DNNL_ARG_BIAS, onednn::wrap(bias_desc, bias.raw()));
  }
  onednn::execute(plan.primitive, plan.scratchpad, std::move(arguments));
}

Tensor PackedConv::apply(const Tensor& input, bool relu) const {
  State& state = *state_;
  check_conv_f32(input, "input");
  const Shape output = conv_output_shape(input.shape(), state.shape, state.geometry);
  if (output.elements() == 0) return Tensor(output);
  if (state.fixed) return apply(BlockedImage(input), relu).plain();
  return onednn::guarded("convolution", [&] {
    if (is_pointwise(state.shape, state.geometry)) {
      const Tensor weight = state.weights_as(state.plain_weights()).packed;
      return apply_pointwise(input, weight, state.bias, relu);
    }
    const auto plan = state.plan({.input = input.shape(),
                                  .blocked = false,
                                  .layout = std::nullopt,
                                  .relu = relu,
                                  .residual = false,
                                  .threads = thread_count()});
    const Tensor source =
        onednn::to_layout(input, onednn::plain_image(input.shape()), plan->source);
    const Desc plain = onednn::plain_image(output);
    Tensor result = onednn::layout_memory(output, plain, plan->destination);
    state.run(*plan, source, result);
    return onednn::to_plain(output, plain, plan->destination, result);
  });
}

BlockedImage PackedConv::apply(const BlockedImage& input, bool relu, BlockedImage residual) const {
  State& state = *state_;
  const Shape output = conv_output_shape(input.shape(), state.shape, state.geometry);
  if (!residual.empty() && !(residual.shape() == output)) {
    fail(ErrorKind::kInvalidArgument,
         "a residual of shape {} for a convolution whose result is {}; they must agree",
         to_string(residual.shape()), to_string(output));
  }
  if (output.elements() == 0) return BlockedImage(Tensor(output));
  if (state.fixed) {
    return onednn::guarded("convolution", [&] {
      return fixed_conv(input, *state.fixed, state.shape, state.geometry,
                        state.bias.values<float>(), relu, std::move(residual), output);
    });
  }
  const BlockedImage seen =
      skips_pixels(state.shape, state.geometry)
          ? max_pool(input, {.kernel = {1, 1}, .stride = state.geometry.stride})
          : input;
  return onednn::guarded("convolution", [&] {
    const BlockedImage::Memory& memory = seen.memory();
    const auto plan = state.plan({.input = seen.shape(),
                                  .blocked = true,
                                  .layout = memory.desc,
                                  .relu = relu,
                                  .residual = !residual.empty(),
                                  .threads = thread_count()});
    Tensor result = residual.empty() ? onednn::layout_memory(output, onednn::plain_image(output),
                                                             plan->destination)
                                     : onednn::writable_as(std::move(residual), plan->destination);
    state.run(*plan, memory.elements, result);
    return BlockedImage(BlockedImage::Memory{output, plan->destination, std::move(result)});
  });
}

Tensor PackedConv::unpack() const {
  if (state_->fixed) return conv_weights_of(*state_->fixed, state_->shape);
  return onednn::guarded("unpacking of convolution weights", [&] {
    State::Weights weights;
    {
      const std::lock_guard lock(state_->mutex);
      weights = state_->weights;
    }
    Tensor plain = Tensor::uninitialized(state_->shape);
    onednn::reorder(weights.desc, weights.packed.raw(), state_->plain_weights(),
                    plain.mutable_raw());
    return plain;
  });
}

}  // namespace fovea
