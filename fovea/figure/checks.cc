#include "fovea/figure/checks.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

void check_panel(const ImagePanel& panel) {
  const bool matrix = panel.weights.rank() == 2;
  const int64_t rows = matrix ? panel.weights.size(0) : 1;
  const int64_t cols = matrix ? panel.weights.size(1) : 1;
  if (!panel.weights.empty()) check_matrix(panel.weights, rows, cols, panel.title);
  if (panel.chosen &&
      (panel.weights.empty() || panel.chosen->row < 0 || panel.chosen->row >= rows ||
       panel.chosen->col < 0 || panel.chosen->col >= cols)) {
    fail(ErrorKind::kInvalidArgument, "patch {},{} is chosen but the grid has {} x {}",
         panel.chosen->row, panel.chosen->col, rows, cols);
  }
  for (const ImageMask& mask : panel.masks) {
    if (mask.rows < 1 || mask.cols < 1 ||
        static_cast<int64_t>(mask.cells.size()) != mask.rows * mask.cols) {
      fail(ErrorKind::kInvalidArgument, "an area of {} x {} has {} cells", mask.rows, mask.cols,
           mask.cells.size());
    }
  }
  for (const ImageBox& box : panel.boxes) {
    if (!(box.left <= box.right && box.top <= box.bottom) || !std::isfinite(box.right - box.left) ||
        !std::isfinite(box.bottom - box.top)) {
      fail(ErrorKind::kInvalidArgument, "a box from {},{} to {},{} cannot be drawn", box.left,
           box.top, box.right, box.bottom);
    }
  }
}

void check_number_table(const NumberTable& table, std::string_view name) {
  const auto rows = static_cast<size_t>(table.values.rows());
  const auto cols = static_cast<size_t>(table.values.cols());
  const auto check = [&](std::string_view what, size_t count, size_t least, size_t most) {
    if (count == least || count == most) return;
    fail(ErrorKind::kInvalidArgument, "{} has {} {} for {} x {} numbers", name, count, what, rows,
         cols);
  };
  check("row names", table.row_labels.size(), 0, rows);
  check("column names", table.col_labels.size(), 0, cols);
  check("formats", table.formats.size(), 1, cols);
  check("sums", table.sums.size(), 0, rows);
  check("bars", table.bars.size(), 0, rows);
  check("notes", table.notes.size(), 0, rows);
  check("backgrounds", table.backgrounds.size(), 0, rows * cols);
}

}  // namespace

void check_matrix(const Tensor& weights, int64_t rows, int64_t cols, std::string_view what) {
  if (weights.dtype() != DType::kF32 || weights.shape() != Shape{rows, cols}) {
    fail(ErrorKind::kInvalidArgument, "{} should be f32 {} but is {} {}", what,
         to_string(Shape{rows, cols}), dtype_name(weights.dtype()), to_string(weights.shape()));
  }
  if (std::max(rows, cols) > kLongestDrawing) {
    fail(ErrorKind::kInvalidArgument,
         "{} has {} x {} cells but a figure holds {} a side; draw a part of the map", what, rows,
         cols, kLongestDrawing);
  }
  if (rows == 0 || cols == 0) {
    fail(ErrorKind::kInvalidArgument, "{} has {} rows and {} columns: there is nothing to draw",
         what, rows, cols);
  }
}

void check_table(const TableFigure& figure) {
  for (const TableRow& row : figure.rows) {
    if (row.cells.size() <= figure.columns.size()) continue;
    fail(ErrorKind::kInvalidArgument, "row '{}' of the table has {} cells but there are {} columns",
         row.label, row.cells.size(), figure.columns.size());
  }
}

bool has_forbidden(MatrixView<const float> weights) {
  for (int64_t r = 0; r < weights.rows; ++r) {
    if (std::any_of(weights.row(r), weights.row(r) + weights.cols,
                    [](float value) { return std::isnan(value); })) {
      return true;
    }
  }
  return false;
}

void check_image(const ImageFigure& figure) {
  if (figure.picture.width < 1 || figure.picture.height < 1 || figure.panels.empty() ||
      figure.panels_across < 1 || !(figure.contour_mass >= 0 && figure.contour_mass <= 1)) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of {} x {} with {} panels, {} across and contour {} cannot be drawn",
         figure.picture.width, figure.picture.height, figure.panels.size(), figure.panels_across,
         figure.contour_mass);
  }
  if (figure.layout == ImageLayout::kSheet &&
      figure.panels.size() != figure.row_names.size() * figure.col_names.size()) {
    fail(ErrorKind::kInvalidArgument, "a sheet of {} x {} has {} panels", figure.row_names.size(),
         figure.col_names.size(), figure.panels.size());
  }
  for (const ImagePanel& panel : figure.panels) check_panel(panel);
}

void check_steps(const StepsFigure& figure) {
  if (figure.stages.empty()) {
    fail(ErrorKind::kInvalidArgument, "a chain of 0 steps cannot be drawn; give one or more");
  }
  for (const StepsStage& stage : figure.stages) {
    for (const NumberTable& table : stage.tables) check_number_table(table, stage.name);
  }
}

void check_composite(const CompositeFigure& figure) {
  const bool matrix = figure.owners.rank() == 2;
  const int64_t rows = matrix ? figure.owners.size(0) : 1;
  const int64_t cols = matrix ? figure.owners.size(1) : 1;
  check_matrix(figure.owners, rows, cols, "the owners of patches");
  if (figure.picture.width < 1 || figure.picture.height < 1 || figure.names.empty()) {
    fail(ErrorKind::kInvalidArgument, "a picture of {} x {} with {} owners cannot be drawn",
         figure.picture.width, figure.picture.height, figure.names.size());
  }
  for (const float owner : figure.owners.values<float>()) {
    if (std::isnan(owner)) continue;
    if (owner < 0 || owner >= static_cast<float>(figure.names.size()) ||
        owner != std::floor(owner)) {
      fail(ErrorKind::kInvalidArgument, "a patch belongs to {} but there are {} owners", owner,
           figure.names.size());
    }
  }
}

}  // namespace fovea
