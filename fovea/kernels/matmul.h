// Matrix products, by oneDNN or of 16-bit integers.
#pragma once

#include <memory>
#include <span>

#include "fovea/kernels/activation.h"
#include "fovea/tensor/stored_matrix.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// How a weight matrix lies in its checkpoint.
enum class WeightLayout {
  kOutIn,  // [out, in]: PyTorch's Linear
  kInOut,  // [in, out]: GPT-2's Conv1D
};

// What a product with packed weights does with its result while it is still in registers:
//   out = activation(x W^T + bias) + residual
struct Epilogue {
  std::span<const float> bias;  // [out], or empty
  Activation activation = Activation::kNone;
  MatrixView<const float> residual;  // [rows, out], or none; may be the output itself
};

// A weight matrix that is multiplied with. F32 weights are packed once in the layout that is
// fastest, and what they came from is not kept; all others stay as they are stored and are unpacked
// where a product reads them (docs/adr/0020). Copies share the weights; apply() may be called from
// any thread.
class PackedMatrix {
 public:
  // `compute` is F32 or I16: what products are of (fixed_point.h). Without instructions for the
  // latter F32 is used and a line logged. Throws Error{kInvalidArgument} for an empty matrix.
  explicit PackedMatrix(const StoredMatrix& weight, DType compute = DType::kF32,
                        WeightLayout layout = WeightLayout::kOutIn);
  // F32 stays as it is stored too: for what others hold anyway, such as a table of words.
  static PackedMatrix as_stored(const StoredMatrix& weight, DType compute = DType::kF32);

  int64_t in() const;
  int64_t out() const;
  DType compute_dtype() const;  // after the fall-back
  size_t bytes() const;         // of the weights as they are held

  // out [rows, out] <- epilogue of x [rows, in] times the weights. Any number of rows; `out` may
  // not overlap x. Throws Error{kInvalidArgument} if shapes do not fit.
  void apply(MatrixView<const float> x, const Epilogue& epilogue, MatrixView<float> out) const;

  // The weights as f32 [out, in], as rounded for `compute_dtype`.
  Tensor unpack() const;

 private:
  PackedMatrix(const StoredMatrix& weight, DType compute, WeightLayout layout, bool as_stored);
  struct State;
  std::shared_ptr<State> state_;
};

// out <- alpha op(a) op(b) + beta out, with op the transpose where asked. With beta 0, `out` is not
// read. Throws Error{kInvalidArgument} if shapes do not fit.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1;
  float beta = 0;
};
void matmul(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> out,
            const MatmulOptions& options = {});

}  // namespace fovea
