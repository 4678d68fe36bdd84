// Where named tensors come from: a safetensors file, a PyTorch file, a GGUF file or several of one
// kind. Opening a source reads names and shapes; elements are read when they are asked for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fovea/tensor/stored_matrix.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;  // what read() gives
  Shape shape;
  std::string stored_as;  // what the file holds: "F16", "Q4_1"
};

// Names differ. All const members may be called from any thread.
class WeightSource {
 public:
  WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;
  virtual ~WeightSource() = default;

  virtual const std::vector<TensorInfo>& tensors() const = 0;
  // Tensor `index` of the list, of the type and shape that the list says. Borrows the mapped file
  // where that is possible. Throws Error{kBadFile} if its bytes are damaged.
  virtual Tensor read(size_t index) const = 0;
  // The same, which must be a matrix of floating-point numbers, as its file stores it. Of several
  // matrices in one tensor, the rows of all.
  virtual StoredMatrix matrix(size_t index) const { return StoredMatrix(as_matrix(read(index))); }

  // [a, b, c] as [a b, c]; a matrix as it is.
  static Tensor as_matrix(Tensor tensor) {
    if (tensor.rank() != 3) return tensor;
    return tensor.reshaped({tensor.size(0) * tensor.size(1), tensor.size(2)});
  }
  // The file that holds tensor `index`, for messages.
  virtual const std::string& file(size_t index) const = 0;
  // The file that lists all of them, for messages.
  virtual const std::string& name() const = 0;
};

}  // namespace fovea
