// Private to this folder: how convolutions describe their images and weights to oneDNN, and changes
// of layout.
#pragma once

#include "fovea/kernels/blocked_image.h"
#include "fovea/kernels/conv.h"
#include "fovea/kernels/onednn.h"

namespace fovea {

// Elements in the layout that `desc` says.
struct BlockedImage::Memory {
  Shape shape;
  onednn::Desc desc;
  Tensor elements;  // f32 of that shape where the layout is the plain one, otherwise bytes
};

// Throws Error{kInvalidArgument} for numbers that no convolution has, so that no sum or product of
// sizes overflows.
void check_geometry(const ConvGeometry& geometry);
// The same for what is called `role` unless it is F32.
void check_conv_f32(const Tensor& tensor, std::string_view role);

// A 1 x 1 kernel that visits every pixel: one matrix product per image.
bool is_pointwise(const Shape& weight, const ConvGeometry& geometry);

namespace onednn {

Desc plain_image(const Shape& shape);
Desc plain_weight(const Shape& weight, int64_t groups);

// All layouts left to oneDNN.
ConvDescs free_conv_descs(const Shape& input, const Shape& weight, const ConvGeometry& geometry);

// `tensor` in the layout that a primitive wants: the tensor itself where that is the plain one.
Tensor to_layout(const Tensor& tensor, const Desc& plain, const Desc& wanted);
// A tensor of `shape` out of `elements`, which lie as `desc` says.
Tensor to_plain(const Shape& shape, const Desc& plain, const Desc& desc, const Tensor& elements);
// An image's elements in layout `wanted`: its own where they lie so, to be read only.
Tensor elements_as(const BlockedImage::Memory& memory, const Desc& wanted);
// The same to be written over: its own only where nobody else holds them.
Tensor writable_as(BlockedImage image, const Desc& wanted);
// Memory for elements in a layout: a tensor of `shape` where that is the plain one.
Tensor layout_memory(const Shape& shape, const Desc& plain, const Desc& wanted);

}  // namespace onednn
}  // namespace fovea
