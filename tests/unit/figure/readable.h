// Writes a figure as text that a person can review and a test can compare. The text says everything
// that the figure says (title, axes, panels with their numbers, marks, scale, caption), one thing a
// line, and nothing about how it is drawn.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/view_frame.h"

namespace fovea::support {

inline constexpr int64_t kLargestPrinted = 64;  // rows or columns of a matrix that is printed whole

inline std::string three_decimals(double value) {
  if (std::isnan(value)) return "·";
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? "0.000" : text;
}

class Description {
 public:
  template <typename... Parts>
  void line(fmt::format_string<Parts...> format, Parts&&... parts) {
    text_ += std::string(static_cast<size_t>(2 * depth_), ' ') +
             printable(fmt::format(format, std::forward<Parts>(parts)...)) + "\n";
  }
  // "name: value", where there is a value.
  void field(std::string_view name, std::string_view value) {
    if (!value.empty()) line("{}: {}", name, value);
  }
  // Puts what `tell` writes under a heading.
  template <typename Tell>
  void under(std::string_view heading, const Tell& tell) {
    line("{}", heading);
    ++depth_;
    tell();
    --depth_;
  }

  void values(std::span<const double> values) {
    std::string text;
    for (const double value : values) text += (text.empty() ? "" : " ") + three_decimals(value);
    line("{}", text);
  }
  void values(std::span<const float> values) {
    this->values(std::vector<double>(values.begin(), values.end()));
  }
  void matrix(const Tensor& weights) {
    if (weights.rank() != 2) return line("no matrix but {}", to_string(weights.shape()));
    const auto cells = weights.matrix<float>();
    if (std::max(cells.rows, cells.cols) > kLargestPrinted) {
      line("{} x {}, largest {}", cells.rows, cells.cols,
           three_decimals(largest_of(weights.values<float>())));
      return;
    }
    for (int64_t r = 0; r < cells.rows; ++r) {
      values(std::span(cells.row(r), static_cast<size_t>(cells.cols)));
    }
  }
  void axis(std::string_view name, const Axis& axis) {
    std::vector<std::string> labels;
    for (const Position& position : axis.positions) {
      labels.push_back(position.special ? "<" + position.text + ">" : position.text);
    }
    line("{} ({}): {}", name, axis.name, fmt::join(labels, " | "));
  }
  void colors(const ColorScale& scale, std::string_view name) {
    if (scale.curve == ScaleCurve::kLinear) {
      line("colours from {} to {}: {}", three_decimals(scale.low), three_decimals(scale.high),
           name);
    } else {
      line("{} colours from {} to {}: {}", name_of(scale.curve), scale_text(scale, scale.low),
           scale_text(scale, scale.high), name);
    }
    if (scale.below || scale.above) {
      line("values lie {} them", !scale.above  ? "below"
                                 : scale.below ? "below and above"
                                               : "above");
    }
  }
  void marks(std::string_view name, const std::vector<CellMark>& cells) {
    std::vector<std::string> places;
    for (const CellMark& cell : cells) places.push_back(fmt::format("{},{}", cell.row, cell.col));
    field(name, fmt::format("{}", fmt::join(places, " ")));
  }
  void chosen(std::string_view what, std::optional<int64_t> index) {
    if (index) line("chosen {}: {}", what, *index);
  }
  void panels(const std::vector<MapPanel>& all) {
    for (const MapPanel& panel : all) under(panel.title, [&] { matrix(panel.weights); });
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_ = 0;
};

struct Describe {
  Description& out;

  void overview(const MapOverview& told) const {
    for (const ColumnApart& each : told.apart) {
      out.under(fmt::format("apart, in grey: {}, {}", each.name, three_decimals(each.share)),
                [&] { out.values(each.weights); });
    }
    const auto names = [&](std::string_view what, const std::vector<PlacedName>& placed) {
      for (const PlacedName& name : placed) {
        out.line("{} at {}: {}", what, three_decimals(name.place), name.text);
      }
    };
    names("row", told.row_names);
    names("column", told.top_columns);
    for (const DistanceShare& each : told.distances) {
      out.line("distance from {}: {}, even {}", each.from, three_decimals(each.share),
               three_decimals(each.even));
    }
    if (told.causal) out.line("the upper right half is free");
    out.marks("rings", told.needles);
  }

  void operator()(const MatrixFigure& figure) const {
    out.line("kind: matrix");
    out.axis("rows", figure.rows);
    out.axis("columns", figure.cols);
    out.field("row title", figure.row_title);
    out.field("column title", figure.col_title);
    if (figure.row_place.step > 1) out.line("positions in a cell: {}", figure.row_place.step);
    if (figure.row_place.first > 0) out.line("first row: {}", figure.row_place.first);
    if (figure.col_place.first > 0) out.line("first column: {}", figure.col_place.first);
    out.colors(figure.scale, figure.value_name);
    out.under("weights", [&] { out.matrix(figure.weights); });
    out.chosen("row", figure.chosen_row);
    out.chosen("column", figure.chosen_col);
    out.marks("marked", figure.marks);
    if (figure.overview) overview(*figure.overview);
  }
  void operator()(const AlignFigure& figure) const { (*this)(as_matrix(figure)); }
  void operator()(const HeadsFigure& figure) const {
    out.line("kind: heads, {} across", figure.panels_across);
    out.axis("rows", figure.rows);
    out.axis("columns", figure.cols);
    out.colors(figure.scale, figure.value_name);
    if (figure.overview)
      out.line("overview{}", figure.causal ? ", the upper right half is free" : "");
    for (const MapPanel& panel : figure.panels) {
      if (panel.apart > 0) out.line("{}: {} apart", panel.title, three_decimals(panel.apart));
      if (!panel.kind.empty()) out.line("{}: {}", panel.title, panel.kind);
    }
    out.panels(figure.panels);
  }
  void operator()(const ReadFigure& figure) const {
    out.line("kind: read, {}", figure.column ? "a column" : "a row");
    if (figure.place.first > 0) out.line("first position: {}", figure.place.first);
    out.colors(figure.scale, figure.value_name);
    running(figure);
  }
  void operator()(const ReadingFigure& figure) const {
    out.line("kind: reading");
    out.colors(figure.scale, figure.value_name);
    for (const ReadFigure& each : figure.lines) {
      out.under(fmt::format("row {}", each.chosen), [&] { running(each); });
    }
  }
  void operator()(const LinesFigure& figure) const {
    out.line("kind: lines until {} of a row", figure.mass);
    out.axis("rows", figure.rows);
    out.axis("columns", figure.cols);
    out.chosen("row", figure.chosen_row);
    out.chosen("column", figure.chosen_col);
    out.panels(figure.heads);
  }
  void operator()(const KernelsFigure& figure) const {
    out.line("kind: kernels, {} across", figure.panels_across);
    out.colors(figure.scale, "mean weight");
    for (const KernelPanel& panel : figure.panels) {
      out.under(panel.title, [&] {
        out.field("detail", panel.detail);
        out.line("mean offset: {} down, {} right", three_decimals(panel.centre_row),
                 three_decimals(panel.centre_col));
        out.matrix(panel.weights);
      });
    }
  }
  void operator()(const DotsFigure& figure) const {
    out.line("kind: dots, {}", figure.value_name);
    out.line("{}: {}", figure.group_name, fmt::join(figure.groups, " | "));
    out.line("series: {}", fmt::join(figure.series, " | "));
    out.matrix(figure.values);
    if (figure.reference) {
      out.line("reference at {}: {}", three_decimals(*figure.reference), figure.reference_name);
    }
  }
  void operator()(const CurvesFigure& figure) const {
    out.line("kind: curves, {}", figure.value_name);
    for (const CurvePanel& panel : figure.panels) {
      out.under(panel.title, [&] {
        out.field("detail", panel.detail);
        out.under(panel.way_name, [&] { out.values(panel.shares); });
        out.under(figure.curve_name, [&] { out.values(panel.values); });
        out.under(figure.mean_name, [&] { out.values(panel.mean); });
        out.under(figure.band_name, [&] {
          out.values(panel.low);
          out.values(panel.high);
        });
      });
    }
  }
  void operator()(const SheetFigure& figure) const {
    out.line("kind: sheet");
    for (const SheetPart& part : figure.parts) {
      out.under(part.heading.empty() ? "part" : "part: " + part.heading,
                [&] { std::visit(*this, part.figure); });
    }
  }
  void operator()(const CompositeFigure& figure) const {
    out.line("kind: composite over {} x {} pixels", figure.picture.width, figure.picture.height);
    for (const CompositeOwner& owner : figure.names) {
      out.line("{}: {}, {}", owner.mark, owner.name, owner.detail);
    }
    out.under("owners", [&] { out.matrix(figure.owners); });
  }
  void operator()(const ImageFigure& figure) const {
    constexpr std::string_view kLayouts[] = {"lines", "panels", "around", "parts", "sheet"};
    out.line("kind: image of {} x {} pixels, {}, {} across", figure.picture.width,
             figure.picture.height, kLayouts[static_cast<size_t>(figure.layout)],
             figure.panels_across);
    if (figure.has_weights()) out.colors(figure.scale, figure.value_name);
    out.field("note", patches_note(figure));
    if (!figure.row_names.empty()) {
      out.line("lines: {}; columns: {}", fmt::join(figure.row_names, " | "),
               fmt::join(figure.col_names, " | "));
    }
    for (const ImagePanel& panel : figure.panels) out.under(panel.title, [&] { over(panel); });
  }
  void operator()(const StepsFigure& figure) const {
    out.line("kind: steps");
    for (const std::string& fact : figure.facts) out.line("fact: {}", fact);
    if (figure.picture) out.under("picture", [&] { (*this)(*figure.picture); });
    for (const StepsStage& stage : figure.stages) {
      if (!stage.part.empty()) out.line("part: {}", stage.part);
      out.under(fmt::format("{} {}", stage.number, stage.name), [&] { told(stage); });
    }
    for (const std::string& check : figure.checks) out.line("check: {}", check);
  }
  void operator()(const TableFigure& figure) const {
    std::vector<std::string> names = {figure.label_name};
    for (const TableColumn& column : figure.columns) {
      names.push_back(column.name + (column.detail.empty() ? "" : " (" + column.detail + ")"));
    }
    out.line("kind: table of {}", fmt::join(names, " | "));
    for (const TableRow& row : figure.rows) {
      if (!row.group.empty()) out.line("group: {}", row.group);
      if (row.total) out.line("---");
      std::vector<std::string> cells;
      for (const TableCell& cell : row.cells) cells.push_back(said(cell));
      out.line("{}{}: {}", row.marked ? "> " : "", row.label, fmt::join(cells, " | "));
    }
    for (const std::string& note : figure.notes) out.line("note: {}", note);
  }

 private:
  static std::string said(const TableCell& cell) {
    std::string text = cell.text + cell.mark;
    if (!cell.range.empty()) text += " (" + cell.range + ")";
    if (cell.share) text += " [" + three_decimals(*cell.share) + "]";
    return text;
  }
  void running(const ReadFigure& figure) const {
    for (size_t i = 0; i < figure.axis.positions.size() && i < figure.weights.size(); ++i) {
      const Position& position = figure.axis.positions[i];
      out.line("{}{} {}{}", static_cast<int64_t>(i) == figure.chosen ? "> " : "",
               position.special ? "<" + position.text + ">" : position.text,
               three_decimals(double{figure.weights[i]}), position.special ? " (special)" : "");
    }
  }
  void over(const ImagePanel& panel) const {
    out.field("note", panel.note);
    if (!panel.weights.empty()) out.matrix(panel.weights);
    if (panel.chosen) out.line("chosen patch: {},{}", panel.chosen->row, panel.chosen->col);
    for (const ImageBox& box : panel.boxes) {
      out.line("box of colour {}: {} {} to {} {} {}", box.color, three_decimals(box.left),
               three_decimals(box.top), three_decimals(box.right), three_decimals(box.bottom),
               box.label);
    }
    for (const ImageMask& mask : panel.masks) {
      out.line("area of colour {}: {} of {} x {} cells", mask.color,
               mask.cells.size() - static_cast<size_t>(std::ranges::count(mask.cells, uint8_t{0})),
               mask.rows, mask.cols);
    }
  }
  void told(const StepsStage& stage) const {
    out.field("formula", stage.formula);
    out.field("sentence", stage.explanation);
    for (const NumberTable& table : stage.tables) {
      out.field("table", table.corner);
      if (!table.col_labels.empty()) out.line("columns: {}", fmt::join(table.col_labels, " | "));
      for (int64_t r = 0; r < table.values.rows(); ++r) {
        std::string cells = static_cast<size_t>(r) < table.row_labels.size()
                                ? table.row_labels[static_cast<size_t>(r)] + ":"
                                : "";
        for (int64_t c = 0; c < table.values.cols(); ++c) {
          cells += " " + table.format_of(c)(table.values(r, c));
        }
        const auto row = static_cast<size_t>(r);
        if (row < table.sums.size()) cells += " | sum " + table.formats.back()(table.sums[row]);
        if (row < table.bars.size()) cells += " | bar " + three_decimals(table.bars[row]);
        if (row < table.notes.size()) cells += " | " + table.notes[row];
        out.line("{}{}", table.marked_row == r ? "> " : "", cells);
      }
      if (table.shade_to) out.line("colours from 0 to {}", three_decimals(*table.shade_to));
    }
    out.field("caption", stage.caption);
  }
};

// Weights have three decimals; numbers of steps are written as in their table; "·" marks cells that
// the mask forbids. A large matrix shows only its size and its largest weight. Metadata is left
// out.
inline std::string readable(const Figure& figure) {
  Description out;
  const FigureText& text = text_in(figure);
  out.field("title", text.title);
  out.field("subtitle", text.subtitle);
  out.field("badge", text.badge);
  std::visit(Describe{out}, figure);
  out.field("caption", text.caption);
  return out.take();
}

}  // namespace fovea::support
