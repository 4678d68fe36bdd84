#include "fovea/figure/model_steps_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/utf8.h"
#include "fovea/base/version.h"
#include "fovea/capture/words.h"
#include "fovea/figure/caption.h"

namespace fovea {
namespace {

constexpr int64_t kMostSimilarTokens = 12;  // cells of so many columns have room for their number

std::string similarity_row(const ModelSteps& steps) {
  if (!steps.similarity) return "the model's";
  return std::holds_alternative<Cosine>(*steps.similarity) ? "cosine" : "dot product";
}

std::string similarities_caption(const ModelStepsView& view, size_t shown) {
  const ModelSteps& steps = view.steps;
  std::string text = fmt::format(
      "Rows: what {} attends to if its q is compared with every k by the model's own "
      "rule, by q·k unscaled, and by the cosine of their angle; the last two are {} "
      "· layer {}, head {} · softmax weight",
      view.token_name(), kNotTheModel, steps.site.layer, steps.head);
  const std::string sum = sum_text(std::vector{steps.sum});
  if (shown == steps.weights.size()) return text + fmt::format(" · each row sums to {}", sum);
  return text + fmt::format(" · each row sums to {} over all {} tokens, of which {} are shown", sum,
                            steps.weights.size(), shown);
}

}  // namespace

std::string ModelStepsView::token_name() const {
  return fmt::format("\"{}\"", isolated(printable(plain_label(rows, steps.row))));
}

std::string ModelStepsView::column_name(int64_t column) const {
  return fmt::format("\"{}\"", isolated(printable(plain_label(cols, column))));
}

std::string ModelStepsView::similarity_name() const {
  return std::string(steps.similarity ? name_of(*steps.similarity) : "model");
}

std::string ModelStepsView::caption() const {
  std::string place = fmt::format("layer {}, head {}", steps.site.layer, steps.head);
  if (steps.similarity) {
    place += fmt::format(" · {} similarity, {}", similarity_name(), kNotTheModel);
  }
  const std::string row =
      token_caption(token_text(rows, steps.row, false), place, std::vector{steps.sum});
  if (!to) return row;
  const double weight = steps.weights[static_cast<size_t>(*to)];
  return row + (steps.allowed(*to) ? fmt::format(" · to {}: {:.3f}", column_name(*to), weight)
                                   : fmt::format(" · {} is hidden from it", column_name(*to)));
}

Json model_steps_metadata(const ModelStepsView& view) {
  Json json = Json::object({{"version", version()},
                            {"method", "steps"},
                            {"model", view.run.model},
                            {"model_hash", view.run.model_hash},
                            {"input", view.input}});
  if (view.is_cross()) json.set("target", view.rows.source);
  json.set("site", to_string(view.steps.site));
  json.set("layer", view.steps.site.layer);
  json.set("head", view.steps.head);
  json.set("row", view.steps.row);
  if (view.to) json.set("column", *view.to);
  json.set("similarity", view.similarity_name());
  return json;
}

std::vector<int64_t> largest_entries(std::span<const double> values, int64_t most) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto size = [&](int64_t i) { return std::abs(values[static_cast<size_t>(i)]); };
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return size(a) > size(b); });
  order.resize(std::min(order.size(), static_cast<size_t>(std::max<int64_t>(most, 0))));
  std::ranges::sort(order);
  return order;
}

std::vector<int64_t> shown_tokens(const ModelSteps& steps, int64_t most,
                                  std::optional<int64_t> always) {
  std::vector<int64_t> tokens = largest_entries(steps.weights, most);
  if (steps.sum > 0 && steps.shape.cols > most) {
    std::erase_if(tokens, [&](int64_t j) { return !steps.allowed(j); });
  }
  if (!always || std::ranges::count(tokens, *always) > 0) return tokens;
  if (static_cast<int64_t>(tokens.size()) == most) {
    const auto weight = [&](int64_t j) { return steps.weights[static_cast<size_t>(j)]; };
    tokens.erase(std::ranges::min_element(tokens, {}, weight));
  }
  tokens.insert(std::ranges::lower_bound(tokens, *always), *always);
  return tokens;
}

MatrixFigure model_similarities_figure(const ModelStepsView& view) {
  const std::vector<int64_t> tokens = shown_tokens(view.steps, kMostSimilarTokens);
  MatrixFigure figure{.row_title = "compared by", .col_title = "tokens, attended to"};
  figure.cols.name = view.cols.name;
  for (const int64_t j : tokens) {
    Position position = view.cols.positions[static_cast<size_t>(j)];
    position.text = printable(plain_label(view.cols, j));
    figure.cols.positions.push_back(std::move(position));
  }
  figure.rows.name = "similarities";
  std::vector<float> weights;
  const auto add = [&](const ModelSteps& steps) {
    figure.rows.positions.push_back({.text = similarity_row(steps)});
    for (const int64_t j : tokens) {
      weights.push_back(static_cast<float>(steps.weights[static_cast<size_t>(j)]));
    }
  };
  add(view.steps);
  for (const ModelSteps& other : view.others) add(other);
  figure.weights = Tensor::from(
      {static_cast<int64_t>(figure.rows.positions.size()), static_cast<int64_t>(tokens.size())},
      weights);
  figure.text.title =
      title_of(view.run, view.steps.site.kind,
               fmt::format("layer {}, head {} · {} by three similarities", view.steps.site.layer,
                           view.steps.head, view.token_name()));
  figure.text.caption = similarities_caption(view, tokens.size());
  figure.text.metadata = model_steps_metadata(view);
  return figure;
}

}  // namespace fovea
