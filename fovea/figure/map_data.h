// The numbers of a figure, and what they stand for. Files of numbers and JSON hold these.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/figure/figure.h"

namespace fovea {

struct MapData {
  Tensor weights;                   // f32 [rows, cols] or [panels, rows, cols]; NaN: not allowed
  std::vector<std::string> panels;  // one name per panel; empty for one matrix
  Axis rows;
  Axis cols;
  FigureText text;
};

MapData data_of(const MatrixFigure& figure);
MapData data_of(const HeadsFigure& figure);
MapData data_of(const ReadFigure& figure);  // one row, or one column
MapData data_of(const LinesFigure& figure);
MapData data_of(const AlignFigure& figure);
MapData data_of(const ImageFigure& figure);      // the maps of its panels, over their grid
MapData data_of(const KernelsFigure& figure);    // each panel by how far down and to the right
MapData data_of(const DotsFigure& figure);       // [groups, series]
MapData data_of(const CompositeFigure& figure);  // owners over the grid; -1: nobody's

// The weights behind the panels, where they draw something else that nobody asked for by name.
MapData patch_numbers(const ImageFigure& figure, std::span<const std::vector<double>> weights,
                      int64_t rows, int64_t cols);

// The texts of an axis, one for each position.
Json position_texts(const Axis& axis);

// Sets "rows", "cols" and "weights", or "panels" with a title and weights each. A cell that is not
// allowed is null.
void add_numbers(Json& json, const MapData& data);

}  // namespace fovea
