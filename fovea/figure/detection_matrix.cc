#include "fovea/figure/detection_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/atlas/merged_map.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/map_drawing.h"

namespace fovea {
namespace {

struct ShownQueries {
  Axis axis;
  std::vector<int64_t> indices;
};

// The queries of the objects; all queries if there is no object.
ShownQueries shown_queries(const DetectionScene& scene, const AttentionRecord& record) {
  ShownQueries queries{.axis = {.name = "objects"}};
  for (const DetectedObject& object : scene.objects) {
    queries.indices.push_back(object.query);
    queries.axis.positions.push_back({.text = fmt::format("{} {}", object.number, object.name)});
  }
  if (!queries.indices.empty()) return queries;
  queries.axis.name = "queries";
  for (int64_t query = 0; query < record.shape().rows; ++query) {
    queries.indices.push_back(query);
    queries.axis.positions.push_back({.text = std::to_string(query)});
  }
  return queries;
}

Tensor values_between(const RecordPointer& record, const ShownQueries& queries, HeadChoice head,
                      MapValue value) {
  std::vector<PositionGroup> all;
  for (int64_t query = 0; query < record->shape().rows; ++query) all.push_back({query, query + 1});
  const MergedMap map = merged_map(record, head, all, all, Merge::kWords, value);
  const auto count = static_cast<int64_t>(queries.indices.size());
  Tensor weights({count, count});
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t c = 0; c < count; ++c) {
      weights.mutable_matrix<float>()(r, c) = map.weights.matrix<float>()(
          queries.indices[static_cast<size_t>(r)], queries.indices[static_cast<size_t>(c)]);
    }
  }
  return weights;
}

std::vector<double> sums_of_rows(const Tensor& weights) {
  std::vector<double> sums(static_cast<size_t>(weights.size(0)));
  for (int64_t r = 0; r < weights.size(0); ++r) {
    for (int64_t c = 0; c < weights.size(1); ++c) {
      sums[static_cast<size_t>(r)] += double{weights.matrix<float>()(r, c)};
    }
  }
  return sums;
}

FigureText between_text(const DetectionScene& scene, const RecordPointer& record,
                        const ShownQueries& queries, HeadChoice head,
                        const std::vector<double>& sums, MapValue value, std::string_view colors) {
  const bool all = queries.axis.name == "queries";
  FigureText text;
  text.title = title_of(scene.run, SiteKind::kDecoderSelf,
                        all ? "between all queries" : "between the queries of the objects");
  const std::string told =
      " · rows sum to " + sum_text(sums) +
      (all ? ""
           : fmt::format("; the rest lies on {} queries that found nothing",
                         record->shape().cols - static_cast<int64_t>(scene.objects.size())));
  text.caption = fmt::format("Rows attend to columns · layer {}, {} · {}{}{}{}", record->site.layer,
                             heads_text(head, record->shape().heads), meaning_of(value),
                             value == MapValue::kWeight ? told : "", colors, model_note(scene.run));
  text.metadata = scene_metadata(scene, record->site);
  return text;
}

// Weights on visible_scale(), unless other colours are asked for; `note` says which.
ColorScale scale_of_cells(const MapDrawing& drawing, const Tensor& weights, std::string& note) {
  const auto values = weights.values<float>();
  if (drawing.is_plain()) return visible_scale({values.begin(), values.end()}, note);
  const ColorScale scale = scale_of(drawing, values);
  note = colors_note(drawing, scale, values);
  return scale;
}

}  // namespace

MatrixFigure between_figure(const DetectionScene& scene, const RecordPointer& record,
                            HeadChoice head, const MapDrawing& drawing) {
  const ShownQueries queries = shown_queries(scene, *record);
  const HeadChoice shown = single_map(head, *record);
  MatrixFigure figure{.rows = queries.axis,
                      .cols = queries.axis,
                      .weights = values_between(record, queries, shown, drawing.of),
                      .value_name = value_name(drawing.of),
                      .row_title = queries.axis.name + ", attending",
                      .col_title = queries.axis.name + ", attended to"};
  const auto values = figure.weights.values<float>();
  figure.scale = scale_of(drawing, values);
  figure.text = between_text(scene, record, queries, shown, sums_of_rows(figure.weights),
                             drawing.of, colors_note(drawing, figure.scale, values));
  return figure;
}

HeadsFigure between_heads_figure(const DetectionScene& scene, const RecordPointer& record,
                                 const HeadChoice& heads, const MapDrawing& drawing) {
  const ShownQueries queries = shown_queries(scene, *record);
  HeadsFigure figure{.rows = queries.axis,
                     .cols = queries.axis,
                     .panels_across = 4,
                     .value_name = value_name(drawing.of)};
  std::vector<double> sums;
  std::vector<float> all;
  for (const HeadChoice& one : maps_meant(heads, *record)) {
    figure.panels.push_back(
        {heads_text(one, record->shape().heads), values_between(record, queries, one, drawing.of)});
    for (const double sum : sums_of_rows(figure.panels.back().weights)) sums.push_back(sum);
    const auto values = figure.panels.back().weights.values<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  figure.scale = scale_of(drawing, all);
  figure.text = between_text(scene, record, queries, heads, sums, drawing.of,
                             colors_note(drawing, figure.scale, all));
  return figure;
}

MatrixFigure cells_figure(const DetectionScene& scene, const ViewChoice& choice) {
  const AttentionShape shape = chosen_record(scene.run, choice)->shape();
  ViewChoice whole = choice;
  const bool is_plain = !choice.of && !choice.curve && !choice.range;
  whole.exact = choice.exact || std::max(shape.rows, shape.cols) <= kLargestSide;
  if (is_plain) {
    whole.of = MapValue::kWeight;
    whole.curve = ScaleCurve::kLinear;
    whole.largest = true;
  }
  MatrixFigure figure = matrix_view(scene.run, whole);
  if (is_plain) {
    std::string note;
    figure.scale = scale_of_cells({}, figure.weights, note);
    figure.text.caption += note;
  }
  figure.text.caption += model_note(scene.run);
  return figure;
}

MatrixFigure cells_part_figure(const DetectionScene& scene, const ViewChoice& choice) {
  const RecordPointer record = chosen_record(scene.run, choice);
  const AttentionShape shape = record->shape();
  const HeadChoice head = single_map(choice.head, *record);
  const Side all = make_side(scene.run, record->row_axis, /*words=*/false);
  const MapPart part = map_part(choice, all, all);
  const MapDrawing drawing = map_drawing(choice, 1);
  Frame frame{.record = record,
              .rows = make_side(scene.run, record->row_axis, false, 1, part.rows),
              .cols = make_side(scene.run, record->col_axis, false, 1, part.cols)};
  frame.of = drawing.of;
  const PositionGroup rows = part.rows, cols = part.cols;
  MatrixFigure figure{.rows = frame.rows.shown,
                      .cols = frame.cols.shown,
                      .row_place = {.first = rows.begin},
                      .col_place = {.first = cols.begin}};
  figure.weights = frame.map(head).weights;
  figure.value_name = value_name(drawing.of);
  std::string note;
  figure.scale = scale_of_cells(drawing, figure.weights, note);
  figure.row_title = fmt::format("cells {} to {}, attending", rows.begin, rows.end - 1);
  figure.col_title = fmt::format("cells {} to {}, attended to", cols.begin, cols.end - 1);
  figure.text.title = title_of(scene.run, SiteKind::kEncoderSelf,
                               fmt::format("a part of {} x {} cells", shape.rows, shape.cols));
  figure.text.caption = fmt::format(
      "Rows {} to {} attend to columns {} to {} · layer {}, {} · {}, every cell exact{}{}{}",
      rows.begin, rows.end - 1, cols.begin, cols.end - 1, record->site.layer,
      heads_text(head, shape.heads), meaning_of(drawing.of),
      drawing.of == MapValue::kWeight ? "; a whole row sums to 1" : "", note,
      model_note(scene.run));
  figure.text.metadata = scene_metadata(scene, record->site);
  return figure;
}

}  // namespace fovea
