#include "fovea/figure/detection_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/atlas/merged_map.h"
#include "fovea/figure/caption.h"

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

Tensor weights_between(const RecordPointer& record, const ShownQueries& queries, HeadChoice head) {
  std::vector<PositionGroup> all;
  for (int64_t query = 0; query < record->shape().rows; ++query) all.push_back({query, query + 1});
  const MergedMap map = merged_map(record, head, all, all, Merge::kWords);
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
                        const std::vector<double>& sums) {
  const bool all = queries.axis.name == "queries";
  FigureText text;
  text.title = title_of(scene.run, SiteKind::kDecoderSelf,
                        all ? "between all queries" : "between the queries of the objects");
  text.caption = fmt::format(
      "Rows attend to columns · layer {}, {} · softmax weight · rows sum to {}{}{}",
      record->site.layer, heads_text(head, record->shape().heads), sum_text(sums),
      all ? ""
          : fmt::format("; the rest lies on {} queries that found nothing",
                        record->shape().cols - static_cast<int64_t>(scene.objects.size())),
      model_note(scene.run));
  text.metadata = scene_metadata(scene, record->site);
  return text;
}

Axis part_of(const Axis& axis, CellRange range) {
  Axis part{.name = axis.name};
  part.positions.assign(axis.positions.begin() + range.begin, axis.positions.begin() + range.end);
  return part;
}

// Every position by itself.
std::vector<PositionGroup> each_of(CellRange range) {
  std::vector<PositionGroup> groups;
  for (int64_t i = range.begin; i < range.end; ++i) groups.push_back({i, i + 1});
  return groups;
}

// The visible_scale() of the shown cells.
ColorScale scale_of_cells(const Tensor& weights, std::string& note) {
  const auto values = weights.values<float>();
  return visible_scale({values.begin(), values.end()}, note);
}

}  // namespace

MatrixFigure between_figure(const DetectionScene& scene, const RecordPointer& record,
                            HeadChoice head) {
  const ShownQueries queries = shown_queries(scene, *record);
  const HeadChoice shown = single_map(head, *record);
  MatrixFigure figure{.rows = queries.axis,
                      .cols = queries.axis,
                      .weights = weights_between(record, queries, shown),
                      .row_title = queries.axis.name + ", attending",
                      .col_title = queries.axis.name + ", attended to"};
  figure.scale = scale_to(largest_of(figure.weights.values<float>()));
  figure.text = between_text(scene, record, queries, shown, sums_of_rows(figure.weights));
  return figure;
}

HeadsFigure between_heads_figure(const DetectionScene& scene, const RecordPointer& record) {
  const ShownQueries queries = shown_queries(scene, *record);
  HeadsFigure figure{.rows = queries.axis, .cols = queries.axis, .panels_across = 4};
  std::vector<double> sums;
  double largest = 0;
  for (int64_t h = 0; h < record->shape().heads; ++h) {
    const HeadChoice one{.kind = HeadChoice::Kind::kOne, .head = h};
    figure.panels.push_back({fmt::format("head {}", h), weights_between(record, queries, one)});
    for (const double sum : sums_of_rows(figure.panels.back().weights)) sums.push_back(sum);
    largest = std::max(largest, largest_of(figure.panels.back().weights.values<float>()));
  }
  figure.scale = scale_to(largest);
  figure.text = between_text(scene, record, queries, {.kind = HeadChoice::Kind::kAll}, sums);
  return figure;
}

MatrixFigure cells_figure(const DetectionScene& scene, const ViewChoice& choice) {
  const AttentionShape shape = chosen_record(scene.run, choice)->shape();
  ViewChoice whole = choice;
  whole.of = MapValue::kWeight;
  whole.curve = ScaleCurve::kLinear;
  whole.largest = true;
  whole.exact = choice.exact || std::max(shape.rows, shape.cols) <= kLargestSide;
  MatrixFigure figure = matrix_view(scene.run, whole);
  std::string note;
  figure.scale = scale_of_cells(figure.weights, note);
  figure.text.caption += note + model_note(scene.run);
  return figure;
}

MatrixFigure cells_part_figure(const DetectionScene& scene, const RecordPointer& record,
                               HeadChoice head, CellRange rows, CellRange cols) {
  const AttentionShape shape = record->shape();
  head = single_map(head, *record);
  const Axis& axis = *scene.run.find_axis(record->row_axis);
  MatrixFigure figure{.rows = part_of(axis, rows),
                      .cols = part_of(axis, cols),
                      .row_place = {.first = rows.begin},
                      .col_place = {.first = cols.begin}};
  figure.weights = merged_map(record, head, each_of(rows), each_of(cols), Merge::kWords).weights;
  std::string note;
  figure.scale = scale_of_cells(figure.weights, note);
  figure.row_title = fmt::format("cells {} to {}, attending", rows.begin, rows.end - 1);
  figure.col_title = fmt::format("cells {} to {}, attended to", cols.begin, cols.end - 1);
  figure.text.title = title_of(scene.run, SiteKind::kEncoderSelf,
                               fmt::format("a part of {} x {} cells", shape.rows, shape.cols));
  figure.text.caption = fmt::format(
      "Rows {} to {} attend to columns {} to {} · layer {}, {} · softmax weight, every cell "
      "exact; a whole row sums to 1{}{}",
      rows.begin, rows.end - 1, cols.begin, cols.end - 1, record->site.layer,
      heads_text(head, shape.heads), note, model_note(scene.run));
  figure.text.metadata = scene_metadata(scene, record->site);
  return figure;
}

}  // namespace fovea
