// Products of a few rows with weights as they are stored (docs/adr/0020): a token of a generation,
// a sentence.
#pragma once

#include "fovea/kernels/matmul.h"
#include "fovea/tensor/stored_matrix.h"

namespace fovea {

// Up to so many rows it is faster than unpacking whole panels for oneDNN.
inline constexpr int64_t kFewRows = 24;

// out [rows, weight rows] <- epilogue of x [rows, weight columns] times the weights' transpose.
// Weights are unpacked a few rows at a time into the first-level cache. In `compute` I16 the rows
// of both sides are rounded as for integers (fixed_point.h). The weights are not transposed.
void row_products(MatrixView<const float> x, const StoredMatrix& weight, DType compute,
                  const Epilogue& epilogue, MatrixView<float> out);

}  // namespace fovea
