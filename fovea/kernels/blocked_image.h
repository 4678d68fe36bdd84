// A batch of feature maps on their way from one convolution to the next, in whatever layout is
// fastest there: a change of layout after each would cost as much as many of the convolutions.
#pragma once

#include <memory>

#include "fovea/kernels/pool.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Copies share the elements.
class BlockedImage {
 public:
  BlockedImage() = default;  // stands for an argument that is left out
  // f32 [batch, channels, height, width], taken as it lies. Throws Error{kInvalidArgument} for
  // another rank or type.
  explicit BlockedImage(const Tensor& plain);

  bool empty() const { return memory_ == nullptr; }
  const Shape& shape() const;
  // f32 [batch, channels, height, width] again.
  Tensor plain() const;

  // For the files of this folder (conv_layout.h).
  struct Memory;
  explicit BlockedImage(Memory memory);
  const Memory& memory() const { return *memory_; }
  // Whether someone else holds the elements too.
  bool shared() const;
  // The elements, for the one who holds them alone.
  Tensor take();

 private:
  std::shared_ptr<Memory> memory_;
};

// As max_pool of fovea/kernels/pool.h.
BlockedImage max_pool(const BlockedImage& input, const PoolGeometry& geometry);

}  // namespace fovea
