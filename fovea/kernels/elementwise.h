// Sums, products and rounding of arrays. Where an output may be an input, it says so.
#pragma once

#include <span>

#include "fovea/tensor/dtype.h"
#include "fovea/tensor/view.h"

namespace fovea {

// All of one length; `out` may be `a` or `b`.
void add_arrays(std::span<const float> a, std::span<const float> b, std::span<float> out);
void multiply_arrays(std::span<const float> a, std::span<const float> b, std::span<float> out);
void scale_array(std::span<const float> a, float factor, std::span<float> out);

// The same vector to every row: out(i, j) = a(i, j) + row[j], or times row[j]. `out` may be `a`.
void add_to_rows(MatrixView<const float> a, std::span<const float> row, MatrixView<float> out);
void multiply_rows(MatrixView<const float> a, std::span<const float> row, MatrixView<float> out);

// out[j] = sum over rows of a(i, j), summed in double.
void sum_of_rows(MatrixView<const float> a, std::span<float> out);
// out[j] = sum over rows of a(i, j) * b(i, j), summed in double.
void sum_of_row_products(MatrixView<const float> a, MatrixView<const float> b,
                         std::span<float> out);

}  // namespace fovea
