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

}  // namespace fovea
