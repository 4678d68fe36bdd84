// Rows and columns of attention over the picture: of object queries, of one cell, of a few points.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"
#include "fovea/cli/detect/view.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/caption.h"
#include "fovea/render/view_frame.h"

namespace fovea {
namespace {

constexpr int64_t kLongestMap = 640;

// One panel: which row or column, in which heads.
struct MapLine {
  std::string title;
  int64_t index = 0;
  HeadChoice head;
};

double sum_of_weights(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// What a column would receive if all rows looked everywhere alike.
double uniform_sum(const AttentionRecord& record) {
  const AttentionShape shape = record.shape();
  const auto& valid = record.rule.mask.key_valid;
  const int64_t keys = valid.empty() ? shape.cols : shape.cols - std::ranges::count(valid, 0);
  return static_cast<double>(shape.rows) / static_cast<double>(std::max<int64_t>(keys, 1));
}

std::vector<HeadChoice> heads_for(HeadChoice head, const AttentionRecord& record) {
  if (head.kind != HeadChoice::Kind::kAll) return {single_map(head, record)};
  std::vector<HeadChoice> heads;
  for (int64_t h = 0; h < record.shape().heads; ++h) {
    heads.push_back({.kind = HeadChoice::Kind::kOne, .head = h});
  }
  return heads;
}

std::string place_text(const RecordPointer& record, const std::vector<MapLine>& lines) {
  const int64_t heads = record->shape().heads;
  const bool same = std::ranges::all_of(
      lines, [&](const MapLine& line) { return line.head == lines.front().head; });
  return fmt::format("layer {}, {}", record->site.layer,
                     same ? heads_text(lines.front().head, heads)
                          : heads_text({.kind = HeadChoice::Kind::kAll}, heads));
}

struct LineMaps {
  ImageFigure figure;
  std::vector<double> sums;
  std::string note;  // on the colours
};

// The panels of all lines on one scale.
LineMaps line_maps(const DetectRun& run, const RecordPointer& record,
                   const std::vector<MapLine>& lines, bool column) {
  LineMaps maps{.figure = picture_figure(run, kLongestMap)};
  std::vector<float> all;
  for (const MapLine& line : lines) {
    const std::vector<double> weights = line_of(record, line.index, line.head, column);
    maps.sums.push_back(sum_of_weights(weights));
    all.insert(all.end(), weights.begin(), weights.end());
    maps.figure.panels.push_back(map_panel(run, line.title, weights));
  }
  maps.figure.scale = visible_scale(all, maps.note);
  maps.figure.panels_across = lines.size() <= 3 ? static_cast<int64_t>(lines.size()) + 1 : 4;
  return maps;
}

std::string received_text(const LineMaps& maps, const AttentionRecord& record) {
  return fmt::format("sum {}, where uniform attention gives {:.2f}", sum_text(maps.sums),
                     uniform_sum(record));
}

Content line_content(const DetectRun& run, const RecordPointer& record, LineMaps maps, bool column,
                     std::string query) {
  Json metadata = metadata_for(run, record->site);
  metadata.set("query", query);
  metadata.set("direction", column ? "column" : "row");
  maps.figure.text.metadata = std::move(metadata);
  const auto data = [figure = maps.figure] { return data_of(figure); };
  const auto json = [objects = objects_json(run), data, record, column, query, sums = maps.sums] {
    Json answer = objects;
    answer.set("site", to_string(record->site));
    answer.set("query", query);
    answer.set("direction", column ? "column" : "row");
    answer.set("map", map_json(data()));
    answer.set("sums", Json::array_of(sums));
    if (column) {
      std::vector<double> times;
      for (const double sum : sums) times.push_back(sum / uniform_sum(*record));
      answer.set("times_uniform", Json::array_of(times));
    }
    return answer;
  };
  return {std::move(maps.figure), data, json};
}

// ---- the encoder's attention of one cell

void check_encoder(const Args& args) {
  if (!args.has("at")) {
    fail(ErrorKind::kInvalidArgument,
         "--view encoder needs a pixel to look from; give --at X,Y in pixels of the picture");
  }
  const size_t count = parse_pixels(args["at"]).size();
  if (count > 1) {
    fail(ErrorKind::kInvalidArgument,
         "--at has {} pixels but --view encoder shows one; take --view points", count);
  }
}

Content make_encoder(const DetectRun& run) {
  const int64_t cell = cell_at(run.input, "at", parse_pixels(run.args["at"]).front());
  return encoder_content(run, cell, run.args.flag("column"));
}

// ---- cross-attention of object queries

void check_queries(const Args& args) {
  const HeadChoice head = head_of(args);
  if (!args.has("query") && args.has("head") && head.kind == HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument,
         "--head all shows one query in every head, but every object is asked for; give --query N");
  }
}

std::vector<MapLine> query_lines(const DetectRun& run, const RecordPointer& record) {
  const HeadChoice head = head_of(run.args);
  std::vector<MapLine> lines;
  if (run.args.has("query")) {
    const int64_t query = run.args.integer("query");
    for (const HeadChoice each : heads_for(head, *record)) {
      lines.push_back({heads_text(each, record->shape().heads), query, each});
    }
    return lines;
  }
  const HeadChoice shown = single_map(head, *record);
  for (const DetectedObject& object : run.objects) {
    lines.push_back({fmt::format("{} {}, query {}", object.number, object.name, object.query),
                     object.query, shown});
  }
  return lines;
}

Content make_queries(const DetectRun& run) {
  const RecordPointer record = record_for(run, SiteKind::kCross);
  const std::vector<MapLine> lines = query_lines(run, record);
  if (lines.empty()) return detect_objects_view().make(run);
  LineMaps maps = line_maps(run, record, lines, false);
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const DetectedObject& object : run.objects) {
      if (object.query == lines[i].index) {
        maps.figure.panels[i].boxes = {box_for(run, object)};
        maps.figure.panels[i].boxes[0].label.clear();  // the title says it
      }
    }
  }
  const std::string query = run.args.has("query")
                                ? fmt::format("query {}", run.args.integer("query"))
                                : std::string("the query of each object");
  maps.figure.text.title = title_of(run.result.run, SiteKind::kCross, query);
  maps.figure.text.caption = fmt::format(
      "Rows: what {} attends to · {} · softmax weight over cells · sum {}{}{}", query,
      place_text(record, lines), sum_text(maps.sums), maps.note, model_note(run.engine));
  return line_content(run, record, std::move(maps), false, query);
}

// ---- a few points around the picture

void check_points(const Args& args) {
  const HeadChoice head = head_of(args);
  if (args.has("head") && head.kind == HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument,
         "--head all does not go with --view points, which shows one map per point; give a head, "
         "mean or max");
  }
  if (args.has("at") && parse_pixels(args["at"]).size() > 8) {
    fail(ErrorKind::kInvalidArgument, "--at has {} pixels but 8 at most stand around a picture",
         parse_pixels(args["at"]).size());
  }
}

// Of --at; else the middle of the four best objects, and where there are fewer, of quarters.
std::vector<std::pair<int64_t, std::string>> chosen_points(const DetectRun& run) {
  std::vector<std::pair<int64_t, std::string>> points;
  if (run.args.has("at")) {
    for (const PixelArgument pixel : parse_pixels(run.args["at"])) {
      points.emplace_back(cell_at(run.input, "at", pixel),
                          fmt::format("at {},{}", pixel.x, pixel.y));
    }
    return points;
  }
  const int64_t width = run.input.picture.width, height = run.input.picture.height;
  for (const DetectedObject& object : run.objects) {
    if (points.size() == 4) break;
    points.emplace_back(centre_cell(run, object.box),
                        fmt::format("middle of {} {}", object.number, object.name));
  }
  for (int64_t quarter = static_cast<int64_t>(points.size()); quarter < 4; ++quarter) {
    const PixelArgument pixel{(quarter % 2 * 2 + 1) * width / 4,
                              (quarter / 2 * 2 + 1) * height / 4};
    points.emplace_back(cell_at(run.input, "at", pixel), fmt::format("at {},{}", pixel.x, pixel.y));
  }
  return points;
}

Content make_points(const DetectRun& run) {
  const RecordPointer record = record_for(run, SiteKind::kEncoderSelf);
  const HeadChoice head = single_map(head_of(run.args), *record);
  const bool column = run.args.flag("column");
  const auto points = chosen_points(run);
  std::vector<MapLine> lines;
  for (const auto& [cell, name] : points) lines.push_back({name, cell, head});
  LineMaps maps = line_maps(run, record, lines, column);
  maps.figure.layout = ImageLayout::kAround;
  for (size_t i = 0; i < lines.size(); ++i) {
    maps.figure.panels[i].chosen = mark_of(run, lines[i].index);
  }
  const std::string what = column ? "who attends to each point" : "what each point attends to";
  maps.figure.text.title =
      title_of(run.result.run, SiteKind::kEncoderSelf,
               fmt::format("{} {} points", column ? "who looks at" : "seen from", points.size()));
  maps.figure.text.caption = fmt::format(
      "{}: {} · {} · softmax weight over cells · {}{}{}", column ? "Columns" : "Rows", what,
      place_text(record, lines),
      column ? received_text(maps, *record) : fmt::format("sum {}", sum_text(maps.sums)), maps.note,
      model_note(run.engine));
  return line_content(run, record, std::move(maps), column, "points");
}

}  // namespace

Content encoder_content(const DetectRun& run, int64_t cell, bool column) {
  const RecordPointer record = record_for(run, SiteKind::kEncoderSelf);
  std::vector<MapLine> lines;
  for (const HeadChoice head : heads_for(head_of(run.args), *record)) {
    lines.push_back({heads_text(head, record->shape().heads), cell, head});
  }
  LineMaps maps = line_maps(run, record, lines, column);
  for (ImagePanel& panel : maps.figure.panels) panel.chosen = mark_of(run, cell);
  const std::string name = cell_name(run, cell);
  maps.figure.text.title =
      title_of(run.result.run, SiteKind::kEncoderSelf,
               fmt::format("{} {}", column ? "who looks at" : "seen from", name));
  const std::string what = column ? fmt::format("Column: who attends to {}", name)
                                  : fmt::format("Row: what {} attends to", name);
  maps.figure.text.caption = fmt::format(
      "{} · {} · softmax weight over cells · {}{}{}", what, place_text(record, lines),
      column ? received_text(maps, *record) : fmt::format("sum {}", sum_text(maps.sums)), maps.note,
      model_note(run.engine));
  return line_content(run, record, std::move(maps), column, name);
}

DetectView detect_queries_view() {
  return {.name = "queries",
          .summary = "what the query of each object attends to, or --query N in every head",
          .options = {"query", "layer", "head"},
          .check = check_queries,
          .make = make_queries,
          .needs_objects = true,
          .site = SiteKind::kCross};
}

DetectView detect_encoder_view() {
  return {.name = "encoder",
          .summary = "what the cell --at X,Y attends to, or with --column who attends to it",
          .options = {"at", "column", "layer", "head"},
          .check = check_encoder,
          .make = make_encoder};
}

DetectView detect_points_view() {
  return {.name = "points",
          .summary = "the maps of a few points around the picture",
          .options = {"at", "column", "layer", "head"},
          .check = check_points,
          .make = make_points};
}

}  // namespace fovea
