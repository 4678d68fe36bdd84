// Products with weights as they are stored, of any number of rows (docs/adr/0020).
#pragma once

#include <memory>

#include "fovea/kernels/matmul.h"
#include "fovea/tensor/stored_matrix.h"

namespace fovea {

// A transposed matrix is turned once, in its own format, which must be one of plain numbers.
class StoredProduct {
 public:
  // `compute` is one that this processor has.
  StoredProduct(StoredMatrix weight, DType compute);

  const StoredMatrix& weight() const { return weight_; }
  DType compute() const { return compute_; }
  // As PackedMatrix::apply.
  void apply(MatrixView<const float> x, const Epilogue& epilogue, MatrixView<float> out) const;
  // f32 [out, in], as rounded for `compute`.
  Tensor unpack() const;

 private:
  struct PanelProducts;
  void apply_panels(MatrixView<const float> x, const Epilogue& epilogue,
                    MatrixView<float> out) const;
  void apply_fixed(MatrixView<const float> x, const Epilogue& epilogue,
                   MatrixView<float> out) const;

  StoredMatrix weight_;
  DType compute_;
  int64_t panel_;  // weight rows that are unpacked together
  std::shared_ptr<PanelProducts> products_;
};

}  // namespace fovea
