#include "fovea/kernels/conv.h"

#include <utility>

#include "fovea/kernels/conv_layout.h"

namespace fovea {
namespace {

void check_gradient(const Tensor& gradient, const Shape& output) {
  check_conv_f32(gradient, "gradient");
  if (!(gradient.shape() == output)) {
    fail(ErrorKind::kInvalidArgument, "a gradient of shape {} was given for an output of shape {}",
         to_string(gradient.shape()), to_string(output));
  }
}

}  // namespace

void check_conv_f32(const Tensor& tensor, std::string_view role) {
  if (tensor.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument, "the {} of a convolution is {}; it must be F32", role,
         dtype_name(tensor.dtype()));
  }
}

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
  check_conv_f32(weight, "weight");
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
    const onednn::Desc plain = onednn::plain_image(input);
    Tensor result = onednn::layout_memory(input, plain, desc.diff_src_desc());
    onednn::execute(
        dnnl::convolution_backward_data(desc), desc.scratchpad_desc(),
        {{DNNL_ARG_DIFF_DST, onednn::wrap(desc.diff_dst_desc(), seed.raw())},
         {DNNL_ARG_WEIGHTS, onednn::wrap(desc.weights_desc(), weights.raw())},
         {DNNL_ARG_DIFF_SRC, onednn::wrap(desc.diff_src_desc(), result.mutable_raw())}});
    return onednn::to_plain(input, plain, desc.diff_src_desc(), result);
  });
}

}  // namespace fovea
