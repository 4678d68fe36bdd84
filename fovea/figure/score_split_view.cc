#include "fovea/figure/score_split_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

constexpr int64_t kLongestWhy = 640;
constexpr size_t kShownDimensions = 8;  // of the strongest head, the largest products

std::vector<double> terms_of(const ScoreSplit& split) {
  return {split.content_content, split.content_position, split.position_content,
          split.position_position, split.score};
}

std::string why_caption(const DetectionScene& scene, const CellPair& pair) {
  return fmt::format(
      "Row {} to column {} · layer {}, {} · score = scale (q·k) with q = content + position and "
      "k likewise; the four terms sum to the score, and weight = exp(score - log-sum-exp of the "
      "row){}",
      pair.from_name, pair.to_name, pair.record->site.layer,
      pair.heads.size() == 1 ? fmt::format("head {}", pair.heads[0].head)
                             : fmt::format("{} heads", pair.heads.size()),
      model_note(scene.run));
}

// The picture with what the first cell attends to in the strongest head, and a frame around the
// second.
ImageFigure pair_picture(const DetectionScene& scene, const CellPair& pair) {
  const int64_t head = pair.strongest().head;
  const std::vector<double> weights =
      line_of(pair.record, pair.from, {HeadChoice::Kind::kOne, head}, /*column=*/false);
  ImageFigure figure = scene_figure(scene, kLongestWhy);
  figure.panels_across = 2;
  std::string note;  // the colour bar says where the colours end
  figure.scale = visible_scale({weights.begin(), weights.end()}, note);
  ImagePanel panel =
      map_panel(scene, fmt::format("what {} attends to, head {}", pair.from_name, head), weights);
  panel.chosen = scene.mark_of(pair.from);
  const CellMark to = scene.mark_of(pair.to);
  const auto rows = static_cast<double>(scene.grid.rows());
  const auto cols = static_cast<double>(scene.grid.columns());
  panel.boxes = {{.left = static_cast<double>(to.col) / cols,
                  .top = static_cast<double>(to.row) / rows,
                  .right = static_cast<double>(to.col + 1) / cols,
                  .bottom = static_cast<double>(to.row + 1) / rows,
                  .label = pair.to_name}};
  figure.panels = {std::move(panel)};
  return figure;
}

NumberTable empty_table(int64_t rows, std::vector<std::string> columns) {
  return {.corner = "",
          .values = Matrix(rows, static_cast<int64_t>(columns.size())),
          .row_labels = {},
          .col_labels = std::move(columns),
          .formats = {NumberFormat::for_weights()}};
}

}  // namespace

const ScoreSplit& CellPair::strongest() const {
  return *std::ranges::max_element(heads, {}, &ScoreSplit::weight);
}

CellPair split_pair(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                    int64_t from, int64_t to) {
  if (!record->positions) {
    fail(ErrorKind::kUnsupported,
         "{} does not add positions to queries and keys, so its scores cannot be split",
         scene.run.model);
  }
  CellPair pair{.record = record,
                .from = from,
                .to = to,
                .from_name = scene.cell_name(from),
                .to_name = scene.cell_name(to)};
  for (int64_t h = 0; h < record->shape().heads; ++h) {
    if (head.kind == HeadChoice::Kind::kOne && h != head.head) continue;
    pair.heads.push_back(split_score(*record, record->positions->queries, record->positions->keys,
                                     h, pair.from, pair.to));
  }
  return pair;
}

Tensor term_values(const CellPair& pair) {
  Tensor values({static_cast<int64_t>(pair.heads.size()), int64_t{5}});
  float* out = values.mutable_values<float>().data();
  for (const ScoreSplit& split : pair.heads) {
    for (const double term : terms_of(split)) *out++ = static_cast<float>(term);
  }
  return values;
}

StepsFigure why_figure(const DetectionScene& scene, const CellPair& pair) {
  StepsFigure figure{.picture = pair_picture(scene, pair)};
  figure.text.title = title_of(scene.run, SiteKind::kEncoderSelf,
                               fmt::format("why {} looks at {}", pair.from_name, pair.to_name));
  figure.text.caption = why_caption(scene, pair);
  figure.text.metadata = scene_metadata(scene, pair.record->site);
  const auto heads = static_cast<int64_t>(pair.heads.size());
  const ScoreSplit& best = pair.strongest();
  const size_t count = std::min(kShownDimensions, best.dimensions.size());
  NumberTable terms = empty_table(heads, {"c · c", "c · p", "p · c", "p · p", "score"});
  NumberTable weights = empty_table(heads, {"in %"});
  NumberTable products = empty_table(static_cast<int64_t>(count), {"q", "k", "product"});
  for (int64_t h = 0; h < heads; ++h) {
    const ScoreSplit& split = pair.heads[static_cast<size_t>(h)];
    terms.row_labels.push_back(fmt::format("head {}", split.head));
    std::ranges::copy(terms_of(split), terms.values.row(h).begin());
    weights.values(h, 0) = 100 * split.weight;
  }
  weights.row_labels = terms.row_labels;
  for (size_t i = 0; i < count; ++i) {
    const DimensionProduct& each = best.dimensions[i];
    products.row_labels.push_back(fmt::format("dim {}", each.dimension));
    std::ranges::copy(std::array{each.query, each.key, each.product},
                      products.values.row(static_cast<int64_t>(i)).begin());
  }
  figure.stages = {{.number = 1,
                    .name = "the score, split",
                    .formula = "s = scale (qc + qp) · (kc + kp)",
                    .explanation = "c: what a cell holds, p: where it lies; the query first",
                    .tables = {std::move(terms)}},
                   {.number = 2,
                    .name = "the weight",
                    .formula = "exp(s - LSE)",
                    .explanation = "its share of the row",
                    .tables = {std::move(weights)}},
                   {.number = 3,
                    .name = fmt::format("the largest products of head {}", best.head),
                    .formula = "scale · q_d · k_d",
                    .explanation = fmt::format("{} of {} dimensions, which all sum to the score",
                                               count, best.dimensions.size()),
                    .tables = {std::move(products)}}};
  return figure;
}

}  // namespace fovea
