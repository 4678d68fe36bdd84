#include "fovea/kernels/conv.h"

#include <utility>

#include "fovea/kernels/conv_layout.h"
#include "fovea/kernels/parallel_rows.h"

namespace fovea {
namespace {

using onednn::Desc;

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

// Runs `compute` on memory in layout `wanted` and returns the result in the plain layout.
template <typename Compute>
Tensor from_layout(const Shape& shape, const Desc& plain, const Desc& wanted,
                   const Compute& compute) {
  Tensor result = onednn::layout_memory(shape, plain, wanted);
  compute(result.mutable_raw());
  return onednn::to_plain(shape, plain, wanted, result);
}

}  // namespace

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

Tensor conv_input_gradient(const Shape& input, const Tensor& weight, const ConvGeometry& geometry,
                           const Tensor& gradient) {
  const Shape output = conv_output_shape(input, weight.shape(), geometry);
  check_f32(weight, "weight");
  check_gradient(gradient, output);
  if (output.elements() == 0) return Tensor(input);
  return onednn::guarded("input gradient of a convolution", [&] {
    onednn::ConvDescs descs = onednn::free_conv_descs(input, weight.shape(), geometry);
    descs.kind = dnnl::prop_kind::forward_training;
    const auto attributes = onednn::make_attributes();
    const auto forward = onednn::conv_forward_desc(descs, attributes);
    const auto desc = onednn::conv_input_gradient_desc(descs, forward, attributes);
    const Tensor weights = onednn::to_layout(
        weight, onednn::plain_weight(weight.shape(), geometry.groups), desc.weights_desc());
    const Tensor seed =
        onednn::to_layout(gradient, onednn::plain_image(output), desc.diff_dst_desc());
    return from_layout(input, onednn::plain_image(input), desc.diff_src_desc(), [&](void* result) {
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
    onednn::ConvDescs descs = onednn::free_conv_descs(input.shape(), weight, geometry);
    descs.kind = dnnl::prop_kind::forward_training;
    const auto attributes = onednn::make_attributes();
    const auto forward = onednn::conv_forward_desc(descs, attributes);
    const auto desc = onednn::conv_weight_gradient_desc(descs, forward, attributes);
    const Tensor source =
        onednn::to_layout(input, onednn::plain_image(input.shape()), desc.src_desc());
    const Tensor seed =
        onednn::to_layout(gradient, onednn::plain_image(output), desc.diff_dst_desc());
    const Desc plain = onednn::plain_weight(weight, geometry.groups);
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
