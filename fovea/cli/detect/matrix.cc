// The encoder's map of every cell with every cell: as a whole, pooled as far as a figure needs, or
// a part of it cell by cell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"
#include "fovea/cli/detect/view.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/caption.h"
#include "fovea/render/view_frame.h"

namespace fovea {
namespace {

constexpr int64_t kMostShown = 2048;  // cells a side of a part

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

// "A:B", from A up to but not with B.
Range parse_range(std::string_view option, const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = fmt::format("--{}", option);
  if (colon == text.npos) {
    fail(ErrorKind::kInvalidArgument, "{} is '{}' but a range is A:B, 100:300 say", name, text);
  }
  const Range range{parse_integer(name, text.substr(0, colon)),
                    parse_integer(name, text.substr(colon + 1))};
  if (range.begin < 0 || range.end <= range.begin || range.end - range.begin > kMostShown) {
    fail(ErrorKind::kInvalidArgument, "{} is {} but a range has 1 to {} cells, from 0", name, text,
         kMostShown);
  }
  return range;
}

Range range_of(const Args& args, const char* option, int64_t cells) {
  if (!args.has(option)) {
    if (cells <= kMostShown) return {0, cells};
    fail(ErrorKind::kInvalidArgument,
         "a part needs --rows and --cols but --{} is not given, and {} cells are too many", option,
         cells);
  }
  const Range range = parse_range(option, args[option]);
  if (range.end > cells) {
    fail(ErrorKind::kInvalidArgument, "--{} is {} but the map has {} cells", option, args[option],
         cells);
  }
  return range;
}

Axis part_of(const Axis& axis, Range range) {
  Axis part{.name = axis.name};
  part.positions.assign(axis.positions.begin() + range.begin, axis.positions.begin() + range.end);
  return part;
}

// Every position by itself.
std::vector<PositionGroup> each_of(Range range) {
  std::vector<PositionGroup> groups;
  for (int64_t i = range.begin; i < range.end; ++i) groups.push_back({i, i + 1});
  return groups;
}

// Cells that the mask forbids have no weight.
std::vector<float> values_of(const Tensor& weights) {
  std::vector<float> values(weights.values<float>().begin(), weights.values<float>().end());
  std::erase_if(values, [](float value) { return std::isnan(value); });
  return values;
}

MatrixFigure part_figure(const DetectRun& run, HeadChoice head) {
  const auto record = record_for(run, SiteKind::kEncoderSelf);
  const AttentionShape shape = record->shape();
  const Range rows = range_of(run.args, "rows", shape.rows);
  const Range cols = range_of(run.args, "cols", shape.cols);
  head = single_map(head, *record);
  const Axis& axis = *run.result.run.find_axis(record->row_axis);
  MatrixFigure figure{.rows = part_of(axis, rows),
                      .cols = part_of(axis, cols),
                      .row_place = {.first = rows.begin},
                      .col_place = {.first = cols.begin}};
  figure.weights = merged_map(record, head, each_of(rows), each_of(cols), Merge::kWords).weights;
  std::string note;
  figure.scale = visible_scale(values_of(figure.weights), note);
  figure.row_title = fmt::format("cells {} to {}, attending", rows.begin, rows.end - 1);
  figure.col_title = fmt::format("cells {} to {}, attended to", cols.begin, cols.end - 1);
  figure.text.title = title_of(run.result.run, SiteKind::kEncoderSelf,
                               fmt::format("a part of {} x {} cells", shape.rows, shape.cols));
  figure.text.caption = fmt::format(
      "Rows {} to {} attend to columns {} to {} · layer {}, {} · softmax weight, every cell "
      "exact; a whole row sums to 1{}{}",
      rows.begin, rows.end - 1, cols.begin, cols.end - 1, record->site.layer,
      heads_text(head, shape.heads), note, model_note(run.engine));
  figure.text.metadata = metadata_for(run, record->site);
  return figure;
}

MatrixFigure whole_figure(const DetectRun& run, HeadChoice head) {
  ViewChoice choice{.kind = SiteKind::kEncoderSelf, .head = head};
  if (run.args.has("layer")) choice.layer = run.args.integer("layer");
  MatrixFigure figure = matrix_view(run.result.run, choice);
  std::string note;
  figure.scale = visible_scale(values_of(figure.weights), note);
  figure.text.caption += note + model_note(run.engine);
  return figure;
}

void check_matrix_args(const Args& args) {
  for (const char* option : {"rows", "cols"}) {
    if (args.has(option)) parse_range(option, args[option]);
  }
}

Content make_matrix(const DetectRun& run) {
  const HeadChoice head = head_of(run.args);
  const bool part = run.args.has("rows") || run.args.has("cols");
  MatrixFigure figure = part ? part_figure(run, head) : whole_figure(run, head);
  return figure_content(run, std::move(figure));
}

}  // namespace

void check_ranges(const Args& args, int64_t cells) {
  if (!args.has("rows") && !args.has("cols")) return;
  for (const char* option : {"rows", "cols"}) range_of(args, option, cells);
}

DetectView detect_matrix_view() {
  return {.name = "matrix",
          .summary = "the encoder's whole map, pooled to fit; --rows A:B --cols A:B for a part",
          .options = {"rows", "cols", "layer", "head"},
          .check = check_matrix_args,
          .make = make_matrix};
}

}  // namespace fovea
