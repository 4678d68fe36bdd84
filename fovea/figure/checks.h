// Checks whether the parts of a figure fit together. Whatever draws a figure calls these first.
#pragma once

#include <string_view>

#include "fovea/figure/figure.h"
#include "fovea/tensor/view.h"

namespace fovea {

inline constexpr int64_t kLongestDrawing = 32767;  // a side, as cairo can draw it

// Throws Error{kInvalidArgument} unless `weights` is a f32 matrix of that size; `what` names it.
void check_matrix(const Tensor& weights, int64_t rows, int64_t cols, std::string_view what);
// These throw the same error unless everything is there.
void check_image(const ImageFigure& figure);
void check_steps(const StepsFigure& figure);  // except its picture
void check_composite(const CompositeFigure& figure);
void check_table(const TableFigure& figure);  // no row has more cells than there are columns

bool has_forbidden(MatrixView<const float> weights);  // NaN somewhere

}  // namespace fovea
