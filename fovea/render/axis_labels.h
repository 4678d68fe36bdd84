// The names of rows and columns beside a matrix. From 14 units on, column names lean at 45 degrees,
// from 11 on at 55; from 8 on they stand at 90; below that every k-th is written with its number in
// the whole map.
#pragma once

#include <optional>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/figure/figure.h"
#include "fovea/render/canvas.h"

namespace fovea {

inline constexpr double kNumberCell = 24;  // and its value has room in a cell
inline constexpr double kLeaningCell = 14;
inline constexpr double kSteepCell = 11;
inline constexpr double kUprightCell = 8;

// Which positions get a name, in order: all, or every k-th and the chosen one.
std::vector<int64_t> labelled_positions(int64_t count, double cell, std::optional<int64_t> chosen);

class RowLabels {
 public:
  RowLabels(const Axis& axis, double cell, std::optional<int64_t> chosen, AxisPlace place = {});
  double width() const { return width_; }         // with the space to the matrix
  void draw(Canvas& canvas, Point corner) const;  // the matrix's top left corner

 private:
  struct Label {
    int64_t position;
    TextBlock text;
  };
  double cell_;
  std::vector<Label> labels_;
  double width_ = 0;
};

class ColumnLabels {
 public:
  ColumnLabels(const Axis& axis, double cell, std::optional<int64_t> chosen, AxisPlace place = {});
  double height() const { return height_; }
  double overhang() const { return overhang_; }  // beyond the matrix's right side
  void draw(Canvas& canvas, Point corner) const;

 private:
  enum class Form { kLeaning, kTurned, kUpright };
  struct Label {
    int64_t position;
    Form form;
    TextBlock text;
  };
  void measure(const Label& label, double right);  // right: the matrix's side

  double cell_;
  double angle_ = 0;  // of leaning names
  std::vector<Label> labels_;
  double height_ = 0;
  double overhang_ = 0;
};

}  // namespace fovea
