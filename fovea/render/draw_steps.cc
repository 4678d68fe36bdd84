// A chain of small matrices with their numbers, from Q, K and V to the weighted sum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/figure/checks.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kCellWidth = 44;
constexpr double kCellHeight = 22;
constexpr double kLineWidth = 820;  // stages flow into lines of this width
constexpr double kArrow = 44;
constexpr double kLineSpace = 30;
constexpr double kLabelWidest = 90;
constexpr double kNarrowestSentence = 150;  // of a stage's sentence
constexpr int64_t kMostShown = 10;          // rows or columns; from there on the middle is left out
constexpr TextStyle kStageNameStyle{.size = 12.5, .color = kInk, .strong = true};
constexpr TextStyle kFormulaStyle{.size = 11.5, .color = kInk};
constexpr TextStyle kSentenceStyle{.size = 10, .color = kMuted};
constexpr TextStyle kLabelStyle{.size = 10, .color = kMuted};

// The positions that are drawn; -1 stands for those left out.
std::vector<int64_t> shown(int64_t count) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) {
    if (count <= kMostShown || i < kMostShown - 2 || i == count - 1) {
      positions.push_back(i);
    } else if (positions.back() >= 0) {
      positions.push_back(-1);
    }
  }
  return positions;
}

std::string value_text(float value, double step) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return value > 0 ? "\u221e" : "\u2212\u221e";
  const double size = std::abs(value);
  if (size >= 1000) return tick_text(value, 1);
  if (size < step / 2) return tick_text(0, step);  // a rounded -0.0001 is no negative zero
  return tick_text(value, size >= 100 ? 0.1 : step);
}

// Many small weights, of patches say, need one more decimal to differ.
double step_of(const NumberTable& table) {
  if (!table.shade_to) return 0.01;
  return std::ranges::any_of(table.values.values(), [](double value) { return value >= 0.1; })
             ? 0.01
             : 0.001;
}

struct DrawnStage {
  Matrix values;
  double step = 0.01;  // of the last decimal
  std::vector<int64_t> rows;
  std::vector<int64_t> cols;
  ColorAxis axis;
  TextBlock name;
  TextBlock formula;
  TextBlock sentence;
  std::vector<TextBlock> row_labels;
  std::vector<TextBlock> col_labels;
  double labels_width = 0;
  double labels_height = 0;
  double width = 0;

  double head_height() const { return name.height() + 3 + formula.height() + 10; }
  double map_top() const { return head_height() + labels_height; }
  double map_width() const { return static_cast<double>(cols.size()) * kCellWidth; }
  double map_height() const { return static_cast<double>(rows.size()) * kCellHeight; }
  double height() const { return map_top() + map_height() + 10 + sentence.height(); }
};

// Weights from 0; anything else symmetric about 0, as far as its largest entry.
ColorAxis stage_axis(const NumberTable& table, const ColorMap& colors) {
  if (table.shade_to) return {colors, {0, *table.shade_to}};
  double largest = 0;
  for (const double value : table.values.values()) {
    if (std::isfinite(value))
      largest = std::max(largest, double{std::abs(static_cast<float>(value))});
  }
  // Twice as far, so that the colours stay pale behind the numbers.
  return {color_map("RdBu"), {-2 * largest, 2 * largest}};
}

std::vector<TextBlock> labels_of(const std::vector<std::string>& names,
                                 const std::vector<int64_t>& positions, double widest) {
  std::vector<TextBlock> labels;
  if (names.empty()) return labels;
  for (const int64_t i : positions) {
    labels.push_back(i < 0 ? TextBlock()
                           : TextBlock::line(names[static_cast<size_t>(i)], kLabelStyle, widest));
  }
  return labels;
}

// A table of a stage; the first carries what is said of the stage, the next only their name.
DrawnStage make_stage(const StepsStage& source, size_t index, const ColorMap& colors) {
  const NumberTable table = index < source.tables.size() ? source.tables[index] : NumberTable();
  DrawnStage stage{.values = table.values,
                   .step = step_of(table),
                   .rows = shown(table.values.rows()),
                   .cols = shown(table.values.cols()),
                   .axis = stage_axis(table, colors)};
  stage.name =
      TextBlock::line(index == 0 ? fmt::format("{}  {}", source.number, source.name) : table.corner,
                      kStageNameStyle);
  stage.formula = TextBlock::line(index == 0 ? source.formula : " ", kFormulaStyle);
  stage.row_labels = labels_of(table.row_labels, stage.rows, kLabelWidest);
  stage.col_labels = labels_of(table.col_labels, stage.cols, kCellWidth - 4);
  for (const TextBlock& label : stage.row_labels) {
    stage.labels_width = std::max(stage.labels_width, label.width() + 6);
  }
  for (const TextBlock& label : stage.col_labels) {
    stage.labels_height = std::max(stage.labels_height, label.height() + 4);
  }
  stage.width = std::max({stage.labels_width + stage.map_width(), stage.name.width(),
                          stage.formula.width(), index == 0 ? kNarrowestSentence : 0});
  std::string sentence = index == 0 ? source.explanation : "";
  const int64_t rows = table.values.rows(), cols = table.values.cols();
  if (std::max(rows, cols) > kMostShown) {
    sentence += fmt::format("{}{} \u00d7 {} in all.", sentence.empty() ? "" : " ", rows, cols);
  }
  stage.sentence = TextBlock::paragraph(sentence, kSentenceStyle, stage.width);
  return stage;
}

void draw_value(Canvas& canvas, const DrawnStage& stage, const Rect& place, int64_t row,
                int64_t col) {
  const Point middle{place.x + place.width / 2, place.y + place.height / 2};
  if (row < 0 || col < 0) {
    for (const double step : {-4.0, 0.0, 4.0}) {
      const double x = middle.x + (row < 0 && col >= 0 ? 0 : step);
      const double y = middle.y + (row < 0 ? step * 0.8 : 0);
      canvas.fill_rounded({x - 0.75, y - 0.75, 1.5, 1.5}, 0.75, kMuted);
    }
    return;
  }
  const auto value = static_cast<float>(stage.values(row, col));
  if (!std::isfinite(value)) {
    canvas.hatch({place});
    if (std::isnan(value)) return;
  }
  const Rgb ground = std::isfinite(value) ? stage.axis.at(value) : kHatchGround;
  if (std::isfinite(value)) canvas.fill(place, ground);
  const TextBlock number =
      TextBlock::line(value_text(value, stage.step), {.size = 10, .color = text_color_on(ground)});
  canvas.text(number, {middle.x - number.width() / 2,
                       middle.y + number.cap_height() / 2 - number.baseline()});
}

void draw_stage(Canvas& canvas, const DrawnStage& stage, Point at) {
  canvas.text(stage.name, at);
  canvas.text(stage.formula, {at.x, at.y + stage.name.height() + 3});
  const Point corner = on_grid({at.x + stage.labels_width, at.y + stage.map_top()});
  for (size_t r = 0; r < stage.rows.size(); ++r) {
    const double y = corner.y + static_cast<double>(r) * kCellHeight;
    for (size_t c = 0; c < stage.cols.size(); ++c) {
      const double x = corner.x + static_cast<double>(c) * kCellWidth;
      draw_value(canvas, stage, {x, y, kCellWidth - 1, kCellHeight - 1}, stage.rows[r],
                 stage.cols[c]);
    }
    if (r < stage.row_labels.size() && !stage.row_labels[r].empty()) {
      const TextBlock& label = stage.row_labels[r];
      canvas.text(label, {corner.x - 6 - label.width(),
                          y + kCellHeight / 2 + label.cap_height() / 2 - label.baseline()});
    }
  }
  for (size_t c = 0; c < stage.col_labels.size(); ++c) {
    const TextBlock& label = stage.col_labels[c];
    const double x = corner.x + (static_cast<double>(c) + 0.5) * kCellWidth;
    canvas.text(label, {x - label.width() / 2, corner.y - 4 - label.height()});
  }
  canvas.text(stage.sentence, {at.x, corner.y + stage.map_height() + 10});
}

void draw_arrow(Canvas& canvas, Point from, double length) {
  const double tip = from.x + length;
  canvas.line(from, {tip - 4, from.y}, {.color = kMuted, .width = 1});
  canvas.polygon({{tip, from.y}, {tip - 6, from.y - 3}, {tip - 6, from.y + 3}}, kMuted);
}

// Stages side by side as long as they fit, then the next line.
struct Line {
  std::vector<DrawnStage> stages;
  double width = 0;
  double height = 0;
};

// The matrices of a line begin at one height, with column names or without.
void align_maps(Line& line) {
  double labels_height = 0;
  for (const DrawnStage& stage : line.stages) {
    labels_height = std::max(labels_height, stage.labels_height);
  }
  for (DrawnStage& stage : line.stages) {
    stage.labels_height = labels_height;
    line.height = std::max(line.height, stage.height());
  }
}

Body line_body(Line line, bool leads_on) {
  auto shared = std::make_shared<Line>(std::move(line));
  Body body;
  body.width = shared->width + (leads_on ? kArrow : 0);
  body.height = shared->height;
  body.draw = [shared, leads_on](Canvas& canvas, Point at) {
    for (size_t i = 0; i < shared->stages.size(); ++i) {
      const DrawnStage& stage = shared->stages[i];
      draw_stage(canvas, stage, at);
      at.x += stage.width;
      if (i + 1 < shared->stages.size() || leads_on) {
        const double y = at.y + stage.map_top() + kCellHeight / 2;
        draw_arrow(canvas, {at.x + 9, y}, kArrow - 18);
      }
      at.x += kArrow;
    }
  };
  return body;
}

}  // namespace

Body draw_steps(const StepsFigure& figure, const ColorMap& colors) {
  check_steps(figure);
  std::vector<Line> lines(1);
  for (const StepsStage& each : figure.stages) {
    for (size_t i = 0; i < std::max<size_t>(each.tables.size(), 1); ++i) {
      DrawnStage stage = make_stage(each, i, colors);
      if (!lines.back().stages.empty() && lines.back().width + kArrow + stage.width > kLineWidth) {
        lines.emplace_back();
      }
      Line& line = lines.back();
      line.width += stage.width + (line.stages.empty() ? 0 : kArrow);
      line.stages.push_back(std::move(stage));
    }
  }
  for (Line& line : lines) align_maps(line);
  std::vector<Body> bodies;
  // The usual map behind numbers suits no picture.
  const ColorMap& over = colors.name() == "paper" ? inferno() : colors;
  if (figure.picture) bodies.push_back(draw_image(*figure.picture, over));
  for (size_t i = 0; i < lines.size(); ++i) {
    bodies.push_back(line_body(std::move(lines[i]), i + 1 < lines.size()));
  }
  return stacked(std::move(bodies), kLineSpace);
}

}  // namespace fovea
