// The decoder's self-attention between the queries of the objects, as a labelled matrix.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/atlas/merged_map.h"
#include "fovea/cli/detect/view.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/caption.h"
#include "fovea/render/view_frame.h"

namespace fovea {
namespace {

struct Queries {
  Axis axis;
  std::vector<int64_t> indices;
};

// Those of the objects; all of them where there is no object.
Queries shown_queries(const DetectRun& run, const AttentionRecord& record) {
  Queries queries{.axis = {.name = "objects"}};
  for (const DetectedObject& object : run.objects) {
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

Tensor weights_between(const RecordPointer& record, const Queries& queries, HeadChoice head) {
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

std::vector<double> row_sums(const Tensor& weights) {
  std::vector<double> sums(static_cast<size_t>(weights.size(0)));
  for (int64_t r = 0; r < weights.size(0); ++r) {
    for (int64_t c = 0; c < weights.size(1); ++c) {
      sums[static_cast<size_t>(r)] += double{weights.matrix<float>()(r, c)};
    }
  }
  return sums;
}

FigureText text_for(const DetectRun& run, const RecordPointer& record, const Queries& queries,
                    HeadChoice head, const std::vector<double>& sums) {
  const bool all = queries.axis.name == "queries";
  FigureText text;
  text.title = title_of(run.result.run, SiteKind::kDecoderSelf,
                        all ? "between all queries" : "between the queries of the objects");
  text.caption = fmt::format(
      "Rows attend to columns · layer {}, {} · softmax weight · rows sum to {}{}{}",
      record->site.layer, heads_text(head, record->shape().heads), sum_text(sums),
      all ? ""
          : fmt::format("; the rest lies on {} queries that found nothing",
                        record->shape().cols - static_cast<int64_t>(run.objects.size())),
      model_note(run.engine));
  text.metadata = metadata_for(run, record->site);
  return text;
}

Content make_between(const DetectRun& run) {
  const RecordPointer record = record_for(run, SiteKind::kDecoderSelf);
  const Queries queries = shown_queries(run, *record);
  const HeadChoice head = head_of(run.args);
  if (run.args.has("head") && head.kind == HeadChoice::Kind::kAll) {
    HeadsFigure figure{.rows = queries.axis, .cols = queries.axis, .panels_across = 4};
    std::vector<double> sums;
    double largest = 0;
    for (int64_t h = 0; h < record->shape().heads; ++h) {
      const HeadChoice one{.kind = HeadChoice::Kind::kOne, .head = h};
      figure.panels.push_back({fmt::format("head {}", h), weights_between(record, queries, one)});
      for (const double sum : row_sums(figure.panels.back().weights)) sums.push_back(sum);
      largest = std::max(largest, largest_of(figure.panels.back().weights.values<float>()));
    }
    figure.scale = scale_to(largest);
    figure.text = text_for(run, record, queries, head, sums);
    return figure_content(run, std::move(figure));
  }
  const HeadChoice shown = single_map(head, *record);
  MatrixFigure figure{.rows = queries.axis,
                      .cols = queries.axis,
                      .weights = weights_between(record, queries, shown),
                      .row_title = queries.axis.name + ", attending",
                      .col_title = queries.axis.name + ", attended to"};
  figure.scale = scale_to(largest_of(figure.weights.values<float>()));
  figure.text = text_for(run, record, queries, shown, row_sums(figure.weights));
  return figure_content(run, std::move(figure));
}

}  // namespace

DetectView detect_between_view() {
  return {.name = "between",
          .summary = "attention between the queries of the objects, as a matrix",
          .options = {"layer", "head"},
          .check = [](const Args&) {},
          .make = make_between,
          .needs_objects = true,
          .site = SiteKind::kDecoderSelf};
}

}  // namespace fovea
