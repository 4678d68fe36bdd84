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
  DType type;  // F32 or BF16
  onednn::Desc desc;
  Tensor elements;  // f32 of that shape where the layout is the plain one of F32, otherwise bytes
};

// Throws Error{kInvalidArgument} for numbers that no convolution has, so that no sum or product of
// sizes overflows.
void check_geometry(const ConvGeometry& geometry);
// The same for what is called `role` unless it is F32.
void check_conv_f32(const Tensor& tensor, std::string_view role);

namespace onednn {

Desc plain_image(const Shape& shape);
Desc plain_weight(const Shape& weight, int64_t groups, DType type = DType::kF32);

// All layouts left to oneDNN; input and weights are of one type.
ConvDescs free_conv_descs(const Shape& input, const Shape& weight, const ConvGeometry& geometry,
                          DType type = DType::kF32, DType output_type = DType::kF32);

// `tensor` in the layout that a primitive wants: the tensor itself where that is the plain one.
Tensor to_layout(const Tensor& tensor, const Desc& plain, const Desc& wanted);
// A tensor of `shape` out of `elements`, which lie as `desc` says.
Tensor to_plain(const Shape& shape, const Desc& plain, const Desc& desc, const Tensor& elements);
// Memory for elements in a layout: a tensor of `shape` where that is the plain one.
Tensor layout_memory(const Shape& shape, const Desc& plain, const Desc& wanted);

}  // namespace onednn
}  // namespace fovea
