#include "fovea/kernels/blocked_image.h"

#include <utility>

#include "fovea/kernels/conv_layout.h"

namespace fovea {

BlockedImage::BlockedImage(const Tensor& plain) {
  if (plain.rank() != 4 || plain.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument,
         "an image is {} {} but must be F32 [batch, channels, height, width]",
         dtype_name(plain.dtype()), to_string(plain.shape()));
  }
  memory_ =
      std::make_shared<Memory>(Memory{plain.shape(), onednn::plain_image(plain.shape()), plain});
}

BlockedImage::BlockedImage(Memory memory) : memory_(std::make_shared<Memory>(std::move(memory))) {}

const Shape& BlockedImage::shape() const {
  FOVEA_ASSERT(memory_ != nullptr);
  return memory_->shape;
}

Tensor BlockedImage::plain() const {
  const Shape& shape = this->shape();
  if (shape.elements() == 0) return Tensor(shape);
  return onednn::guarded("change of an image's layout", [&] {
    return onednn::to_plain(shape, onednn::plain_image(shape), memory_->desc, memory_->elements);
  });
}

bool BlockedImage::shared() const {
  // A plain image may share its elements with the tensor it was made from.
  return memory_.use_count() > 1 || memory_->elements.dtype() != DType::kU8;
}

Tensor BlockedImage::take() {
  FOVEA_ASSERT(!shared());
  Tensor elements = std::move(memory_->elements);
  memory_.reset();
  return elements;
}

BlockedImage max_pool(const BlockedImage& input, const PoolGeometry& geometry) {
  const Shape output = pool_output_shape(input.shape(), geometry);
  if (output.elements() == 0) return BlockedImage(Tensor(output));
  return onednn::guarded("max pooling", [&] {
    const BlockedImage::Memory& source = input.memory();
    const auto dims = [](const std::array<int64_t, 2>& sizes) {
      return onednn::Dims{sizes[0], sizes[1]};
    };
    const auto desc = onednn::max_pool_desc(
        {.source = source.desc,
         .destination = {onednn::Dims(output.sizes()), onednn::kF32, onednn::Tag::any},
         .strides = dims(geometry.stride),
         .kernel = dims(geometry.kernel),
         .padding = dims(geometry.padding)},
        onednn::make_attributes());
    Tensor result = onednn::layout_memory(output, onednn::plain_image(output), desc.dst_desc());
    onednn::execute(dnnl::pooling_forward(desc), desc.scratchpad_desc(),
                    {{DNNL_ARG_SRC, onednn::wrap(source.desc, source.elements.raw())},
                     {DNNL_ARG_DST, onednn::wrap(desc.dst_desc(), result.mutable_raw())}});
    return BlockedImage(BlockedImage::Memory{output, desc.dst_desc(), std::move(result)});
  });
}

}  // namespace fovea
