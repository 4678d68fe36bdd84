#include "fovea/kernels/conv_layout.h"

#include "fovea/kernels/transpose.h"

namespace fovea {

bool is_pointwise(const Shape& weight, const ConvGeometry& geometry) {
  return weight[2] == 1 && weight[3] == 1 && geometry.groups == 1 &&
         geometry.stride == std::array<int64_t, 2>{1, 1} &&
         geometry.padding == std::array<int64_t, 2>{0, 0};
}

namespace onednn {
namespace {

// oneDNN wants an axis for the groups where there are several.
Dims weight_dims(const Shape& weight, int64_t groups) {
  if (groups == 1) return Dims(weight.sizes());
  return {groups, weight[0] / groups, weight[1], weight[2], weight[3]};
}

Desc any_layout(const Dims& dims) {
  return {dims, kF32, Tag::any};
}

Desc channels_last(const Shape& shape) {
  return {Dims(shape.sizes()), kF32, Tag::nhwc};
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

}  // namespace

Desc plain_image(const Shape& shape) {
  return {Dims(shape.sizes()), kF32, Tag::nchw};
}

Desc plain_weight(const Shape& weight, int64_t groups) {
  return {weight_dims(weight, groups), kF32, groups == 1 ? Tag::oihw : Tag::goihw};
}

ConvDescs free_conv_descs(const Shape& input, const Shape& weight, const ConvGeometry& geometry) {
  const Shape output = conv_output_shape(input, weight, geometry);
  ConvDescs descs;
  descs.source = any_layout(Dims(input.sizes()));
  descs.weights = any_layout(weight_dims(weight, geometry.groups));
  descs.destination = any_layout(Dims(output.sizes()));
  descs.strides = {geometry.stride[0], geometry.stride[1]};
  descs.dilations = {geometry.dilation[0] - 1, geometry.dilation[1] - 1};
  descs.padding = {geometry.padding[0], geometry.padding[1]};
  return descs;
}

Tensor layout_memory(const Shape& shape, const Desc& plain, const Desc& wanted) {
  if (plain == wanted) return Tensor::uninitialized(shape);
  return Tensor::uninitialized({static_cast<int64_t>(wanted.get_size())}, DType::kU8);
}

Tensor to_layout(const Tensor& tensor, const Desc& plain, const Desc& wanted) {
  if (plain == wanted) return tensor;
  Tensor blocked = layout_memory(tensor.shape(), plain, wanted);
  if (tensor.rank() == 4 && wanted == channels_last(tensor.shape())) {
    swap_channels_and_pixels(tensor.values<float>().data(), tensor.size(0), tensor.size(1),
                             tensor.size(2) * tensor.size(3),
                             reinterpret_cast<float*>(blocked.mutable_raw()));
  } else {
    reorder(plain, tensor.raw(), wanted, blocked.mutable_raw());
  }
  return blocked;
}

Tensor to_plain(const Shape& shape, const Desc& plain, const Desc& desc, const Tensor& elements) {
  if (plain == desc) return elements;
  Tensor result = Tensor::uninitialized(shape);
  if (shape.rank() == 4 && desc == channels_last(shape)) {
    swap_channels_and_pixels(reinterpret_cast<const float*>(elements.raw()), shape[0],
                             shape[2] * shape[3], shape[1], result.mutable_values<float>().data());
  } else {
    reorder(desc, elements.raw(), plain, result.mutable_raw());
  }
  return result;
}

Tensor elements_as(const BlockedImage::Memory& memory, const Desc& wanted) {
  if (memory.desc == wanted) return memory.elements;
  Tensor elements = layout_memory(memory.shape, plain_image(memory.shape), wanted);
  reorder(memory.desc, memory.elements.raw(), wanted, elements.mutable_raw());
  return elements;
}

Tensor writable_as(BlockedImage image, const Desc& wanted) {
  const BlockedImage::Memory& memory = image.memory();
  if (!(memory.desc == wanted)) return elements_as(memory, wanted);
  return image.shared() ? memory.elements.clone() : image.take();
}

}  // namespace onednn
}  // namespace fovea
