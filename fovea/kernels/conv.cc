#include "fovea/kernels/conv.h"

#include <limits>
#include <mutex>
#include <utility>

#include "fovea/base/parallel.h"
#include "fovea/kernels/matmul.h"
#include "fovea/kernels/onednn.h"
#include "fovea/kernels/parallel_rows.h"
#include "fovea/kernels/transpose.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

using onednn::Desc;
using onednn::Dims;
using onednn::Tag;

Desc plain_image(const Shape& shape) {
  return {Dims(shape.sizes()), onednn::kF32, Tag::nchw};
}

// oneDNN wants an axis for the groups where there are several.
Dims weight_dims(const Shape& weight, int64_t groups) {
  if (groups == 1) return Dims(weight.sizes());
  return {groups, weight[0] / groups, weight[1], weight[2], weight[3]};
}

Desc plain_weight(const Shape& weight, int64_t groups) {
  return {weight_dims(weight, groups), onednn::kF32, groups == 1 ? Tag::oihw : Tag::goihw};
}

Desc any_layout(const Dims& dims) {
  return {dims, onednn::kF32, Tag::any};
}

// All layouts left to oneDNN, but for those given.
onednn::ConvDescs free_descs(const Shape& input, const Shape& weight,
                             const ConvGeometry& geometry) {
  const Shape output = conv_output_shape(input, weight, geometry);
  onednn::ConvDescs descs;
  descs.source = any_layout(Dims(input.sizes()));
  descs.weights = any_layout(weight_dims(weight, geometry.groups));
  descs.destination = any_layout(Dims(output.sizes()));
  descs.strides = {geometry.stride[0], geometry.stride[1]};
  descs.dilations = {geometry.dilation[0] - 1, geometry.dilation[1] - 1};
  descs.padding = {geometry.padding[0], geometry.padding[1]};
  return descs;
}

Desc channels_last(const Shape& shape) {
  return {Dims(shape.sizes()), onednn::kF32, Tag::nhwc};
}

// Between [batch, channels, pixels] and [batch, pixels, channels], which oneDNN's own reorder is
// slow at.
void swap_channels_and_pixels(const float* from, int64_t batch, int64_t rows, int64_t cols,
                              float* to) {
  for (int64_t image = 0; image < batch; ++image) {
    const int64_t offset = image * rows * cols;
    transpose_matrix({from + offset, rows, cols}, {to + offset, cols, rows});
  }
}

// `tensor` in the layout that a primitive wants: the tensor itself where that is the plain one.
Tensor to_layout(const Tensor& tensor, const Desc& plain, const Desc& wanted) {
  if (plain == wanted) return tensor;
  Tensor blocked = Tensor::uninitialized({static_cast<int64_t>(wanted.get_size())}, DType::kU8);
  if (tensor.rank() == 4 && wanted == channels_last(tensor.shape())) {
    swap_channels_and_pixels(tensor.values<float>().data(), tensor.size(0), tensor.size(1),
                             tensor.size(2) * tensor.size(3),
                             reinterpret_cast<float*>(blocked.mutable_raw()));
  } else {
    onednn::reorder(plain, tensor.raw(), wanted, blocked.mutable_raw());
  }
  return blocked;
}

// Runs `compute` on memory in layout `wanted` and returns the result in the plain layout.
template <typename Compute>
Tensor from_layout(const Shape& shape, const Desc& plain, const Desc& wanted,
                   const Compute& compute) {
  Tensor result = Tensor::uninitialized(shape);
  if (plain == wanted) {
    compute(result.mutable_raw());
    return result;
  }
  Tensor blocked = Tensor::uninitialized({static_cast<int64_t>(wanted.get_size())}, DType::kU8);
  compute(blocked.mutable_raw());
  if (wanted == channels_last(shape)) {
    swap_channels_and_pixels(reinterpret_cast<const float*>(blocked.raw()), shape[0],
                             shape[2] * shape[3], shape[1], result.mutable_values<float>().data());
  } else {
    onednn::reorder(wanted, blocked.raw(), plain, result.mutable_raw());
  }
  return result;
}

// A 1 x 1 kernel that visits every pixel: one matrix product per image, in the plain layout.
bool is_pointwise(const Shape& weight, const ConvGeometry& geometry) {
  return weight[2] == 1 && weight[3] == 1 && geometry.groups == 1 &&
         geometry.stride == std::array<int64_t, 2>{1, 1} &&
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

void check_f32(const Tensor& tensor, const char* role) {
  if (tensor.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument, "the {} of a convolution is {}; it must be F32", role,
         dtype_name(tensor.dtype()));
  }
}

void check_gradient(const Tensor& gradient, const Shape& output) {
  check_f32(gradient, "gradient");
  if (!(gradient.shape() == output)) {
    fail(ErrorKind::kInvalidArgument, "a gradient of shape {} was given for an output of shape {}",
         to_string(gradient.shape()), to_string(output));
  }
}

// Bounds that keep all sums and products of sizes far from overflow.
void check_geometry(const ConvGeometry& geometry) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const auto within = [](const std::array<int64_t, 2>& sizes, int64_t least) {
    return sizes[0] >= least && sizes[1] >= least && sizes[0] <= kMost && sizes[1] <= kMost;
  };
  if (!within(geometry.stride, 1) || !within(geometry.dilation, 1) ||
      !within(geometry.padding, 0) || geometry.groups < 1 || geometry.groups > kMost) {
    fail(ErrorKind::kInvalidArgument,
         "a convolution with stride {} x {}, dilation {} x {}, padding {} x {} and {} groups: all "
         "must be 1 or more, padding 0 or more, and none above {}",
         geometry.stride[0], geometry.stride[1], geometry.dilation[0], geometry.dilation[1],
         geometry.padding[0], geometry.padding[1], geometry.groups, kMost);
  }
}

}  // namespace

Shape conv_output_shape(const Shape& input, const Shape& weight, const ConvGeometry& geometry) {
  check_geometry(geometry);
  const int64_t groups = geometry.groups;
  if (input.rank() != 4 || weight.rank() != 4 || weight.elements() == 0 ||
      input[1] != weight[1] * groups || weight[0] % groups != 0) {
    fail(ErrorKind::kInvalidArgument,
         "an input of shape {} does not fit weights {} in {} groups; wanted are [batch, channels, "
         "height, width] and [out, channels / groups, height, width]",
         to_string(input), to_string(weight), groups);
  }
  std::vector<int64_t> sizes{input[0], weight[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t padding = geometry.padding[axis];
    const int64_t length = input[static_cast<int>(axis) + 2];
    const int64_t span = geometry.dilation[axis] * (weight[static_cast<int>(axis) + 2] - 1) + 1;
    if (span > length + 2 * padding) {
      fail(ErrorKind::kInvalidArgument,
           "a convolution of {} with {} has no output: {} elements with padding but the kernel "
           "spans {}",
           to_string(input), to_string(weight), length + 2 * padding, span);
    }
    sizes.push_back((length + 2 * padding - span) / geometry.stride[axis] + 1);
  }
  return Shape(std::move(sizes));
}

struct PackedConv::State {
  // One primitive for each size of image; a detector sees few sizes at a time.
  static constexpr size_t kPlans = 8;

  struct Key {
    Shape input;
    bool relu;
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
  Tensor bias;  // f32 [out] or empty
  onednn::RecentlyUsed<Key, Plan> plans{kPlans};
  std::mutex mutex;
  Weights weights;  // replaced when an image size wants another layout; guarded by `mutex`

  Plan make_plan(const Key& key) const;
  Weights weights_as(const Desc& wanted);
};

PackedConv::State::Plan PackedConv::State::make_plan(const Key& key) const {
  onednn::ConvDescs descs = free_descs(key.input, shape, geometry);
  const Desc bias_desc({shape[0]}, onednn::kF32, Tag::a);
  if (!bias.empty()) descs.bias = &bias_desc;
  dnnl::post_ops post_ops;
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
    weights = {.desc = wanted, .packed = to_layout(weights.packed, weights.desc, wanted)};
  }
  return weights;
}

PackedConv::PackedConv(const Tensor& weight, Tensor bias, const ConvGeometry& geometry)
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
  // Plain until the first image tells which layout is fastest; always plain for is_pointwise().
  state_->weights = {.desc = plain_weight(weight.shape(), geometry.groups),
                     .packed = convert(weight, DType::kF32)};
}

const Shape& PackedConv::weight_shape() const {
  return state_->shape;
}
const ConvGeometry& PackedConv::geometry() const {
  return state_->geometry;
}
const Tensor& PackedConv::bias() const {
  return state_->bias;
}

Tensor PackedConv::apply(const Tensor& input, bool relu) const {
  State& state = *state_;
  check_f32(input, "input");
  const Shape output = conv_output_shape(input.shape(), state.shape, state.geometry);
  if (output.elements() == 0) return Tensor(output);
  if (is_pointwise(state.shape, state.geometry)) {
    return apply_pointwise(input, state.weights.packed, state.bias, relu);
  }
  return onednn::guarded("convolution", [&] {
    const State::Key key{.input = input.shape(), .relu = relu, .threads = thread_count()};
    const auto plan = state.plans.get(key, [&] { return state.make_plan(key); });
    const State::Weights weights = state.weights_as(plan->weights);
    const Tensor source = to_layout(input, plain_image(input.shape()), plan->source);
    return from_layout(output, plain_image(output), plan->destination, [&](void* destination) {
      onednn::Arguments arguments{
          {DNNL_ARG_SRC, onednn::wrap(plan->source, source.raw())},
          {DNNL_ARG_WEIGHTS, onednn::wrap(weights.desc, weights.packed.raw())},
          {DNNL_ARG_DST, onednn::wrap(plan->destination, destination)}};
      if (!state.bias.empty()) {
        const Desc bias_desc({state.shape[0]}, onednn::kF32, Tag::a);
        arguments.emplace(DNNL_ARG_BIAS, onednn::wrap(bias_desc, state.bias.raw()));
      }
      onednn::execute(plan->primitive, plan->scratchpad, std::move(arguments));
    });
  });
}

Tensor PackedConv::unpack() const {
  return onednn::guarded("unpacking of convolution weights", [&] {
    const Desc plain = plain_weight(state_->shape, state_->geometry.groups);
    State::Weights weights;
    {
      const std::lock_guard lock(state_->mutex);
      weights = state_->weights;
    }
    Tensor result = Tensor::uninitialized(state_->shape);
    onednn::reorder(weights.desc, weights.packed.raw(), plain, result.mutable_raw());
    return result;
  });
}

Tensor conv_input_gradient(const Shape& input, const Tensor& weight, const ConvGeometry& geometry,
                           const Tensor& gradient) {
  const Shape output = conv_output_shape(input, weight.shape(), geometry);
  check_f32(weight, "weight");
  check_gradient(gradient, output);
  if (output.elements() == 0) return Tensor(input);
  return onednn::guarded("input gradient of a convolution", [&] {
    onednn::ConvDescs descs = free_descs(input, weight.shape(), geometry);
    descs.kind = dnnl::prop_kind::forward_training;
    const auto attributes = onednn::make_attributes();
    const auto forward = onednn::conv_forward_desc(descs, attributes);
    const auto desc = onednn::conv_input_gradient_desc(descs, forward, attributes);
    const Tensor weights =
        to_layout(weight, plain_weight(weight.shape(), geometry.groups), desc.weights_desc());
    const Tensor seed = to_layout(gradient, plain_image(output), desc.diff_dst_desc());
    return from_layout(input, plain_image(input), desc.diff_src_desc(), [&](void* result) {
      onednn::execute(dnnl::convolution_backward_data(desc), desc.scratchpad_desc(),
                      {{DNNL_ARG_DIFF_DST, onednn::wrap(desc.diff_dst_desc(), seed.raw())},
                       {DNNL_ARG_WEIGHTS, onednn::wrap(desc.weights_desc(), weights.raw())},
                       {DNNL_ARG_DIFF_SRC, onednn::wrap(desc.diff_src_desc(), result)}});
    });
  });
}

Tensor conv_weight_gradient(const Tensor& input, const Shape& weight, const ConvGeometry& geometry,
                            const Tensor& gradient) {
  const Shape output = conv_output_shape(input.shape(), weight, geometry);
  check_f32(input, "input");
  check_gradient(gradient, output);
  if (output.elements() == 0) return Tensor(weight);
  return onednn::guarded("weight gradient of a convolution", [&] {
    onednn::ConvDescs descs = free_descs(input.shape(), weight, geometry);
    descs.kind = dnnl::prop_kind::forward_training;
    const auto attributes = onednn::make_attributes();
    const auto forward = onednn::conv_forward_desc(descs, attributes);
    const auto desc = onednn::conv_weight_gradient_desc(descs, forward, attributes);
    const Tensor source = to_layout(input, plain_image(input.shape()), desc.src_desc());
    const Tensor seed = to_layout(gradient, plain_image(output), desc.diff_dst_desc());
    const Desc plain = plain_weight(weight, geometry.groups);
    return from_layout(weight, plain, desc.diff_weights_desc(), [&](void* result) {
      onednn::execute(dnnl::convolution_backward_weights(desc), desc.scratchpad_desc(),
                      {{DNNL_ARG_SRC, onednn::wrap(desc.src_desc(), source.raw())},
                       {DNNL_ARG_DIFF_DST, onednn::wrap(desc.diff_dst_desc(), seed.raw())},
                       {DNNL_ARG_DIFF_WEIGHTS, onednn::wrap(desc.diff_weights_desc(), result)}});
    });
  });
}

Tensor conv_bias_gradient(const Tensor& gradient) {
  check_f32(gradient, "gradient");
  if (gradient.rank() != 4) {
    fail(ErrorKind::kInvalidArgument, "a convolution's gradient has shape {}; it must have 4 axes",
         to_string(gradient.shape()));
  }
  const int64_t batch = gradient.size(0), channels = gradient.size(1);
  const int64_t plane = gradient.size(2) * gradient.size(3);
  Tensor result = Tensor::uninitialized({channels});
  const std::span<float> sums = result.mutable_values<float>();
  const float* values = gradient.values<float>().data();
  parallel_rows(channels, batch * plane, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      double sum = 0;
      for (int64_t image = 0; image < batch; ++image) {
        const float* first = values + (image * channels + channel) * plane;
        for (int64_t i = 0; i < plane; ++i) sum += double{first[i]};
      }
      sums[static_cast<size_t>(channel)] = static_cast<float>(sum);
    }
  });
  return result;
}

}  // namespace fovea
