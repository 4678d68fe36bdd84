#include "fovea/figure/parts_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/atlas/reordered.h"
#include "fovea/base/error.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/map_drawing.h"

namespace fovea {
namespace {

constexpr int64_t kMostParts = 8;        // a side
constexpr int64_t kMostPanelSide = 128;  // cells of a small picture, unless all are asked for

// One side of a grid in parts that differ by one cell at most.
struct CutSide {
  int64_t cells = 0;
  int64_t parts = 1;

  int64_t begin(int64_t part) const { return part * cells / parts; }
  int64_t size(int64_t part) const { return begin(part + 1) - begin(part); }
};

// A grid in rectangles of cells, line by line.
struct CutGrid {
  CutSide rows, cols;

  int64_t count() const { return rows.parts * cols.parts; }
};

CutGrid cut_in_parts(GridShape grid) {
  const auto parts = [](int64_t cells) { return std::clamp<int64_t>(cells / 2, 1, kMostParts); };
  return {{grid.rows, parts(grid.rows)}, {grid.cols, parts(grid.cols)}};
}

// Small enough to be drawn: cells, or blocks of them.
CutGrid cut_in_blocks(GridShape grid, bool exact) {
  const int64_t longest = std::max(grid.rows, grid.cols);
  const int64_t side = exact ? 1 : (longest + kMostPanelSide - 1) / kMostPanelSide;
  return {{grid.rows, (grid.rows + side - 1) / side}, {grid.cols, (grid.cols + side - 1) / side}};
}

// The positions of an axis, rectangle by rectangle, then what stands in front of the grid; and
// which of them each rectangle has.
struct CutOrder {
  std::vector<int64_t> order;
  std::vector<PositionGroup> groups;

  CutOrder(const PictureAxis& axis, const CutGrid& cut) {
    for (int64_t part = 0; part < cut.count(); ++part) {
      const int64_t down = part / cut.cols.parts, across = part % cut.cols.parts;
      const auto begin = std::ssize(order);
      for (int64_t r = cut.rows.begin(down); r < cut.rows.begin(down + 1); ++r) {
        for (int64_t c = cut.cols.begin(across); c < cut.cols.begin(across + 1); ++c) {
          order.push_back(axis.specials + r * axis.grid.cols + c);
        }
      }
      groups.push_back({begin, std::ssize(order)});
    }
    for (int64_t special = 0; special < axis.specials; ++special) order.push_back(special);
  }
};

ImagePanel part_panel(const CutGrid& parts, int64_t part, Tensor weights) {
  const int64_t down = part / parts.cols.parts, across = part % parts.cols.parts;
  const auto share = [](const CutSide& side, int64_t index) {
    return static_cast<double>(side.begin(index)) / static_cast<double>(side.cells);
  };
  return {.title = fmt::format("part {},{}", down, across),
          .weights = std::move(weights),
          .part = ImageBox{.left = share(parts.cols, across),
                           .top = share(parts.rows, down),
                           .right = share(parts.cols, across + 1),
                           .bottom = share(parts.rows, down + 1)}};
}

// "16 × 16", or "3 to 4 × 3 to 4" where parts differ.
std::string cells_text(const CutGrid& parts) {
  const auto text = [](const CutSide& side) {
    const int64_t least = side.cells / side.parts;
    return least * side.parts == side.cells ? fmt::format("{}", least)
                                            : fmt::format("{} to {}", least, least + 1);
  };
  return text(parts.rows) + " × " + text(parts.cols);
}

std::string parts_caption(const CutGrid& parts, const CutGrid& blocks, const ViewChoice& choice,
                          std::string_view place, MapValue of) {
  const std::string cells = cells_text(parts);
  const bool each = blocks.rows.parts == blocks.rows.cells;
  const std::string other = each ? "to the cell" : "by " + cells_text(blocks) + " cells";
  return (choice.column
              ? fmt::format("Columns: who attends to cells, sum over {} of them; rows {}", cells,
                            other)
              : fmt::format("Rows: what cells attend to, mean over {} of them; columns {}", cells,
                            other)) +
         fmt::format(" · white: the part itself · {} · {}", place, meaning_of(of));
}

}  // namespace

RecordPointer parts_record(const Run& run, const ViewChoice& choice) {
  for (const RecordPointer& record : run.records) {
    const Axis* axis = run.find_axis(record->row_axis);
    if (choice.kind && record->site.kind != *choice.kind) continue;
    if (record->row_axis != record->col_axis || axis == nullptr || axis->grid_rows == 0) continue;
    ViewChoice of_kind = choice;
    of_kind.kind = record->site.kind;
    return chosen_record(run, of_kind);
  }
  fail(
      ErrorKind::kNotFound,
      "parts are of a picture that attends to itself, which {} does not; capture one of a picture, "
      "or choose another view",
      choice.kind ? "this attention" : "the run");
}

ImageFigure parts_figure(const Run& run, const ViewChoice& choice, Picture picture) {
  const RecordPointer record = parts_record(run, choice);
  const HeadChoice head = single_map(choice.head, *record);
  ViewChoice own = choice;
  if (!own.of && !own.exact) own.of = MapValue::kTimesEven;
  MapDrawing drawing = row_drawing(own);
  // Parts are compared from map to map.
  if (drawing.from_even) drawing.range = ColorRange{{.value = 1}, {.value = kEvenReach}};
  const PictureAxis axis = PictureAxis::of(*run.find_axis(record->row_axis));
  const CutGrid parts = cut_in_parts(axis.grid), blocks = cut_in_blocks(axis.grid, choice.exact);
  const CutOrder by_part(axis, parts), by_block(axis, blocks);
  const CutOrder &rows = choice.column ? by_block : by_part,
                 &cols = choice.column ? by_part : by_block;
  const MergedMap map = merged_map(reordered(*record, rows.order, cols.order), head, rows.groups,
                                   cols.groups, Merge::kWords, drawing.of);
  const auto values = map.weights.matrix<float>();
  ImageFigure figure{.picture = std::move(picture),
                     .panels_across = parts.cols.parts,
                     .contour_mass = 0,
                     .value_name = value_name(drawing.of),
                     .grid_name = "cells",
                     .layout = ImageLayout::kParts};
  for (int64_t part = 0; part < parts.count(); ++part) {
    Tensor weights = Tensor::uninitialized({blocks.rows.parts, blocks.cols.parts});
    const auto out = weights.mutable_values<float>();
    for (size_t i = 0; i < out.size(); ++i) {
      const auto block = static_cast<int64_t>(i);
      out[i] = choice.column ? values(block, part) : values(part, block);
    }
    figure.panels.push_back(part_panel(parts, part, std::move(weights)));
  }
  const auto all = map.weights.values<float>();
  figure.scale = scale_of(drawing, all);
  const AttentionShape shape = record->shape();
  const std::string place =
      fmt::format("layer {}, {}", record->site.layer, heads_text(head, shape.heads));
  figure.text.title = title_of(
      run, record->site.kind, fmt::format("{} · {} cells", place, count_text(axis.grid.patches())));
  figure.text.subtitle = choice.column ? "who attends to each part of the picture"
                                       : "what each part of the picture attends to";
  figure.text.caption = parts_caption(parts, blocks, choice, place, drawing.of) +
                        colors_note(drawing, figure.scale, all) + model_note(run);
  figure.text.metadata =
      Json::object({{"model", run.model},
                    {"model_hash", run.model_hash},
                    {"site", to_string(record->site)},
                    {"layer", record->site.layer},
                    {"head", to_json(head)},
                    {"direction", choice.column ? "column" : "row"},
                    {"parts", Json(Json::Array{parts.rows.parts, parts.cols.parts})},
                    {"of", map_value_names()[static_cast<size_t>(drawing.of)]}});
  return figure;
}

}  // namespace fovea
