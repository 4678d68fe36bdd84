#include "fovea/render/axis_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea {
namespace {

constexpr double kThinnedPitch = 11;  // the least space between names when not all are written
constexpr double kWidestLabel = 130;
constexpr double kLabelSpace = 5;  // to the matrix
constexpr double kTick = 3;
constexpr double kLeaning = 45;
constexpr double kSteep = 55;  // degrees, where cells are narrow

double label_size(double cell) {
  if (cell < kUprightCell) return 9;
  return cell >= kNumberCell ? 10 : cell >= kSteepCell ? 8.5 : 7.5;
}

double sine(double degrees) {
  return std::sin(degrees * std::numbers::pi / 180);
}
double cosine(double degrees) {
  return std::cos(degrees * std::numbers::pi / 180);
}

TextBlock label_text(const Axis& axis, int64_t index, double cell, std::optional<int64_t> chosen,
                     AxisPlace place) {
  const Position& position = axis.positions[static_cast<size_t>(index)];
  TextStyle style{.size = label_size(cell), .color = position.special ? kMuted : kInk};
  if (index == chosen) {
    style.color = kAccent;
    style.strong = true;
  }
  if (cell >= kUprightCell) return TextBlock::line(position.text, style, kWidestLabel);
  // Cells of a grid are named by their place already; of a block of them the first is enough.
  if (axis.name == "cells" || axis.name == "patches") {
    return TextBlock::line(position.text.substr(0, position.text.find("…")), style, kWidestLabel);
  }
  if (are_numbers(axis, place)) {
    return TextBlock::line(std::to_string(place.of(index)), style, kWidestLabel);
  }
  // The names between are not there, so the number says where this is. U+2068 and U+2069 keep the
  // name's direction away from the number's.
  return TextBlock::line(fmt::format("{} \u2068{}\u2069", place.of(index), position.text), style,
                         kWidestLabel);
}

double label_center(int64_t position, double cell) {
  return (static_cast<double>(position) + 0.5) * cell;
}

}  // namespace

std::vector<int64_t> labelled_positions(int64_t count, double cell, std::optional<int64_t> chosen) {
  int64_t step = 1;
  if (cell < kUprightCell) {
    for (const int64_t factor : {2, 5, 10}) {
      if (static_cast<double>(step) * cell >= kThinnedPitch) break;
      step = factor;
    }
    for (int64_t power = 10; static_cast<double>(step) * cell < kThinnedPitch; power *= 10) {
      for (const int64_t factor : {2, 5, 10}) {
        if (static_cast<double>(step) * cell < kThinnedPitch) step = factor * power;
      }
    }
  }
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; i += step) {
    const bool crowded =
        chosen && i != *chosen && std::abs(static_cast<double>(i - *chosen)) * cell < kThinnedPitch;
    if (step > 1 && crowded) continue;
    positions.push_back(i);
  }
  if (chosen && !std::ranges::binary_search(positions, *chosen)) {
    positions.insert(std::ranges::upper_bound(positions, *chosen), *chosen);
  }
  return positions;
}

RowLabels::RowLabels(const Axis& axis, double cell, std::optional<int64_t> chosen, AxisPlace place)
    : cell_(cell) {
  const auto count = static_cast<int64_t>(axis.positions.size());
  for (const int64_t index : labelled_positions(count, cell, chosen)) {
    labels_.push_back({index, label_text(axis, index, cell, chosen, place)});
    width_ = std::max(width_, labels_.back().text.width());
  }
  width_ += kLabelSpace + (cell < kUprightCell ? kTick : 0);
}

void RowLabels::draw(Canvas& canvas, Point corner) const {
  for (const Label& label : labels_) {
    const double y = corner.y + label_center(label.position, cell_);
    double right = corner.x - kLabelSpace;
    if (cell_ < kUprightCell) {
      canvas.line({corner.x - 1 - kTick, y}, {corner.x - 1, y},
                  {.color = label.text.style().color, .width = 0.75});
      right -= kTick;
    }
    canvas.text(label.text, {right - label.text.width(),
                             y + label.text.cap_height() / 2 - label.text.baseline()});
  }
}

// Numbers of heads, say: short enough to stand upright, where they have room.
bool are_numbers(const Axis& axis) {
  return std::ranges::all_of(axis.positions, [](const Position& position) {
    return !position.text.empty() &&
           position.text.find_first_not_of("0123456789") == std::string::npos;
  });
}

ColumnLabels::ColumnLabels(const Axis& axis, double cell, std::optional<int64_t> chosen,
                           AxisPlace place)
    : cell_(cell) {
  const auto count = static_cast<int64_t>(axis.positions.size());
  bool any_stacked = false;
  for (const int64_t index : labelled_positions(count, cell, chosen)) {
    Label label{index, Form::kLeaning, label_text(axis, index, cell, chosen, place)};
    const std::string& text = axis.positions[static_cast<size_t>(index)].text;
    if (cell >= kUprightCell && is_upright_script(text)) {
      label.form = Form::kUpright;
      if (label.text.width() > cell) {
        label.text = TextBlock::stacked(text, label.text.style());
        any_stacked = true;
      }
    }
    labels_.push_back(std::move(label));
  }
  const bool upright = are_numbers(axis) && std::ranges::all_of(labels_, [&](const Label& label) {
                         return label.text.width() + kLabelSpace <= cell;
                       });
  if (upright) {
    for (Label& label : labels_) label.form = Form::kUpright;
  }
  // A leaning name would run into a stacked one.
  const bool lean = cell >= kSteepCell && !any_stacked;
  angle_ = cell >= kLeaningCell ? kLeaning : kSteep;
  for (Label& label : labels_) {
    if (label.form == Form::kLeaning && !lean) label.form = Form::kTurned;
    measure(label, static_cast<double>(count) * cell);
  }
  height_ += kLabelSpace + (cell < kUprightCell ? kTick : 0);
}

void ColumnLabels::measure(const Label& label, double right) {
  const double length = label.text.width();
  const double cap = label.text.cap_height();
  switch (label.form) {
    case Form::kLeaning: {
      height_ = std::max(height_, length * sine(angle_) + cap * cosine(angle_));
      const double reach = length * cosine(angle_) + cap * sine(angle_);
      overhang_ = std::max(overhang_, label_center(label.position, cell_) + reach - right);
      break;
    }
    case Form::kTurned:
      height_ = std::max(height_, length);
      break;
    case Form::kUpright:
      height_ = std::max(height_, label.text.height());
      break;
  }
}

void ColumnLabels::draw(Canvas& canvas, Point corner) const {
  for (const Label& label : labels_) {
    const double x = corner.x + label_center(label.position, cell_);
    const double half = label.text.cap_height() / 2;
    double bottom = corner.y - kLabelSpace;
    if (cell_ < kUprightCell) {
      canvas.line({x, corner.y - 1 - kTick}, {x, corner.y - 1},
                  {.color = label.text.style().color, .width = 0.75});
      bottom -= kTick;
    }
    switch (label.form) {
      case Form::kLeaning:
        canvas.rotated_text(label.text, {x + half * sine(angle_), bottom}, angle_);
        break;
      case Form::kTurned:
        canvas.rotated_text(label.text, {x + half, bottom}, 90);
        break;
      case Form::kUpright:
        canvas.text(label.text, {x - label.text.width() / 2, bottom - label.text.height()});
        break;
    }
  }
}

}  // namespace fovea
