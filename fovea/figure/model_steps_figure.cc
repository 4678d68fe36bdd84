// The steps of a model as a chain of small matrices. A figure shows the tokens and the numbers that
// count most; all of them are in the files of numbers.
#include "fovea/figure/model_steps_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/figure/caption.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// How much fits side by side in one figure.
constexpr int64_t kMostFigureTokens = 10;
constexpr int64_t kMostFigureNumbers = 6;

class StageMaker {
 public:
  explicit StageMaker(const ModelStepsView& view)
      : view_(view),
        steps_(view.steps),
        tokens_(shown_tokens(view.steps, kMostFigureTokens, view.to)),
        partner_(view.to.value_or(std::ranges::max_element(view.steps.weights) -
                                  view.steps.weights.begin())),
        score_parts_(largest_entries(view.steps.products.row(partner_), kMostFigureNumbers)),
        value_parts_(largest_entries(view.steps.z, kMostFigureNumbers)) {
    for (const int64_t j : tokens_) token_labels_.push_back(label(j));
  }

  std::string label(int64_t token) const { return printable(plain_label(view_.cols, token)); }

  // Rows of `matrix` at the shown tokens, columns at `parts`.
  NumberTable matrix(const Matrix& matrix, const std::vector<int64_t>& parts) const {
    Matrix values(static_cast<int64_t>(tokens_.size()), static_cast<int64_t>(parts.size()));
    for (int64_t r = 0; r < values.rows(); ++r) {
      for (int64_t c = 0; c < values.cols(); ++c)
        values(r, c) = matrix(at(tokens_, r), at(parts, c));
    }
    return of_tokens(std::move(values), numbers(parts));
  }

  // One number per shown token.
  NumberTable column(const std::vector<double>& all) const {
    Matrix values(static_cast<int64_t>(tokens_.size()), 1);
    for (int64_t r = 0; r < values.rows(); ++r) {
      values(r, 0) = all[static_cast<size_t>(at(tokens_, r))];
    }
    return of_tokens(std::move(values), {});
  }

  NumberTable of_tokens(Matrix values, std::vector<std::string> cols) const {
    NumberTable result = table(std::move(values), token_labels_, std::move(cols));
    const auto marked = std::ranges::find(tokens_, view_.to.value_or(steps_.row));
    const bool is_column = view_.to || (!view_.is_cross() && !view_.is_pool());
    if (is_column && marked != tokens_.end()) result.marked_row = marked - tokens_.begin();
    return result;
  }

  static NumberTable lines(std::vector<std::string> names,
                           const std::vector<std::vector<double>>& vectors,
                           const std::vector<int64_t>& parts) {
    Matrix values(static_cast<int64_t>(vectors.size()), static_cast<int64_t>(parts.size()));
    for (int64_t r = 0; r < values.rows(); ++r) {
      for (int64_t c = 0; c < values.cols(); ++c) {
        values(r, c) = vectors[static_cast<size_t>(r)][static_cast<size_t>(at(parts, c))];
      }
    }
    return table(std::move(values), std::move(names), numbers(parts));
  }

  StepsStage query() const {
    StepsStage stage{.tables = {lines({printable(plain_label(view_.rows, steps_.row))}, {steps_.q},
                                      score_parts_)}};
    stage.name = "Query";
    stage.formula = projection_formula(view_, 'q');
    stage.explanation = fmt::format(
        "What {} asks for{}. Shown are {} of its {} numbers, those that count most in its score "
        "with \"{}\".",
        view_.token_name(), view_.rotary ? ", turned by its position" : "", score_parts_.size(),
        steps_.shape.head_dim, label(partner_));
    return stage;
  }

  StepsStage keys() const {
    StepsStage stage{.tables = {matrix(steps_.k, score_parts_)}};
    stage.name = "Keys";
    stage.formula = projection_formula(view_, 'k');
    if (steps_.block && view_.is_cross()) stage.formula += ", s: the source";
    if (steps_.block && view_.is_pool()) stage.formula += ", s: the patches";
    stage.explanation = "What each token can be found by.";
    if (steps_.shape.kv_heads < steps_.shape.heads) {
      const int64_t share = steps_.shape.heads / steps_.shape.kv_heads;
      stage.explanation +=
          fmt::format(" Key head {} serves heads {} to {} (grouped queries).", steps_.kv_head,
                      steps_.kv_head * share, (steps_.kv_head + 1) * share - 1);
    }
    if (static_cast<int64_t>(tokens_.size()) < steps_.shape.cols) {
      double rest = steps_.sum;
      for (const int64_t j : tokens_) rest -= steps_.weights[static_cast<size_t>(j)];
      stage.explanation += fmt::format(
          " Shown are {} of {} tokens, {}those with the largest weights; the others have {:.3f} "
          "together.",
          tokens_.size(), steps_.shape.cols,
          view_.to ? fmt::format("{} and ", view_.column_name(*view_.to)) : "", std::abs(rest));
    }
    return stage;
  }

  StepsStage products() const {
    StepsStage stage{.tables = {matrix(steps_.products, score_parts_)}};
    stage.name = "Products";
    stage.formula = is_cosine() ? "q(d) · k(d) / |q| |k|" : "q(d) · k(d)";
    stage.explanation = "Query times key, number by number.";
    if (static_cast<int64_t>(score_parts_.size()) == steps_.shape.head_dim) return stage;
    NumberTable& table = stage.tables[0];
    for (const int64_t j : tokens_) table.sums.push_back(steps_.scores[static_cast<size_t>(j)]);
    table.rest = true;
    std::vector<double> numbers(table.values.values().begin(), table.values.values().end());
    numbers.insert(numbers.end(), table.sums.begin(), table.sums.end());
    table.formats = {NumberFormat::for_values(numbers)};
    return stage;
  }

  // The stages from the products to the input of softmax: bias, cap and mask if the model has them.
  std::vector<StepsStage> scores() const {
    std::vector<StepsStage> stages;
    const auto add = [&](const char* name, std::string formula, std::string explanation,
                         const std::vector<double>& values) {
      stages.push_back({.name = name,
                        .formula = std::move(formula),
                        .explanation = std::move(explanation),
                        .tables = {column(values)}});
    };
    add("Scores", fmt::format("s = {}", is_cosine() ? "q · k / |q| |k|" : "q · k"),
        fmt::format("The sum of all {} products.", steps_.shape.head_dim), steps_.scores);
    add("Scaled", scaled_formula(steps_), scaled_sentence(steps_), steps_.scaled);
    if (!steps_.bias.empty()) {
      std::vector<double> biased = steps_.scaled;
      std::ranges::transform(biased, steps_.bias, biased.begin(), std::plus());
      add("Biased", "s + bias", bias_sentence(view_.rule), biased);
    }
    if (!steps_.capped.empty()) {
      const std::string cap = short_number(view_.rule.soft_cap);
      add("Capped", fmt::format("{0} · tanh(s / {0})", cap),
          fmt::format("The soft cap keeps every score between -{0} and {0}.", cap), steps_.capped);
    }
    const std::string hidden = mask_sentence(view_);
    if (!hidden.empty()) add("Masked", mask_formula(view_), hidden, steps_.masked);
    return stages;
  }

  StepsStage weights() const {
    StepsStage stage{.tables = {column(steps_.weights)}};
    NumberTable& weights = stage.tables[0];
    const double largest = *std::ranges::max_element(steps_.weights);
    for (int64_t r = 0; r < weights.values.rows(); ++r) {
      double& weight = weights.values(r, 0);
      weights.bars.push_back(largest > 0 ? weight / largest : 0);
      const double captured = steps_.captured[static_cast<size_t>(at(tokens_, r))];
      const bool hidden = !steps_.allowed(at(tokens_, r));
      if (hidden) weight = std::numeric_limits<double>::quiet_NaN();
      weights.notes.push_back(hidden              ? "hidden"
                              : steps_.similarity ? fmt::format("model's {:.3f}", captured)
                                                  : "");
    }
    const bool silent = std::ranges::all_of(weights.notes, &std::string::empty);
    if (silent) weights.notes.clear();
    weights.formats = {NumberFormat::for_weights()};
    weights.shade_to = 1;
    stage.name = "Softmax";
    stage.formula = "a = exp(s) / Σ exp(s)";
    stage.explanation =
        fmt::format("Shares of one whole; all {} sum to {:.3f}.", steps_.shape.cols, steps_.sum);
    if (!view_.rule.sink_logit.empty() && !steps_.similarity) {
      stage.explanation += fmt::format(" A sink of score {:.3f} takes the rest.",
                                       view_.rule.sink_logit[static_cast<size_t>(steps_.head)]);
    }
    if (steps_.similarity) stage.explanation += fmt::format(" This is {}.", kNotTheModel);
    return stage;
  }

  StepsStage values() const {
    StepsStage stage{.tables = {matrix(steps_.v, value_parts_)}};
    stage.name = "Values";
    stage.formula = projection_formula(view_, 'v');
    stage.explanation = fmt::format(
        "What each token passes on. Shown are {} of {} numbers, the largest of the weighted sum.",
        value_parts_.size(), steps_.shape.value_dim);
    return stage;
  }

  StepsStage weighted_sum() const {
    StepsStage stage;
    if (view_.to) {
      std::vector<double> part;
      for (const double value : steps_.v.row(*view_.to)) {
        part.push_back(steps_.weights[static_cast<size_t>(*view_.to)] * value);
      }
      stage.tables = {
          lines({fmt::format("a·v {}", label(*view_.to)), "z"}, {part, steps_.z}, value_parts_)};
    } else {
      stage.tables = {lines({"z"}, {steps_.z}, value_parts_)};
    }
    stage.name = "Weighted sum";
    stage.formula = "z = Σ a(j) v(j)";
    stage.explanation = fmt::format(
        "What {} receives in this head: all values, mixed by the weights.", view_.token_name());
    return stage;
  }

  StepsStage output() const {
    std::vector<double> others = steps_.output;
    for (size_t i = 0; i < others.size(); ++i) {
      others[i] -= steps_.head_output[i];
      if (!steps_.output_bias.empty()) others[i] -= steps_.output_bias[i];
    }
    std::vector<std::string> names{fmt::format("head {}", steps_.head)};
    std::vector<std::vector<double>> vectors{steps_.head_output};
    if (steps_.shape.heads > 1) {
      names.push_back(
          fmt::format("{} other{}", steps_.shape.heads - 1, steps_.shape.heads == 2 ? "" : "s"));
      vectors.push_back(others);
    }
    if (!steps_.output_bias.empty()) {
      names.emplace_back("bias");
      vectors.push_back(steps_.output_bias);
    }
    names.emplace_back("y");
    vectors.push_back(steps_.output);
    const std::vector<int64_t> parts = largest_entries(steps_.head_output, kMostFigureNumbers);
    StepsStage stage{.tables = {lines(names, vectors, parts)}};
    stage.name = "Output";
    stage.formula = steps_.output_bias.empty() ? "y = z Wo" : "y = z Wo + bo";
    stage.explanation = fmt::format(
        "What the heads add to {}. Shown are {} of {} numbers, those where this head adds most.",
        view_.token_name(), parts.size(), steps_.width());
    return stage;
  }

 private:
  bool is_cosine() const {
    return steps_.similarity && std::holds_alternative<Cosine>(*steps_.similarity);
  }
  static std::vector<std::string> numbers(const std::vector<int64_t>& parts) {
    std::vector<std::string> names;
    for (const int64_t part : parts) names.push_back(std::to_string(part));
    return names;
  }
  static int64_t at(const std::vector<int64_t>& places, int64_t index) {
    return places[static_cast<size_t>(index)];
  }
  static NumberTable table(Matrix values, std::vector<std::string> rows,
                           std::vector<std::string> cols) {
    NumberTable table{
        .values = std::move(values), .row_labels = std::move(rows), .col_labels = std::move(cols)};
    table.formats = {NumberFormat::for_values(table.values.values())};
    return table;
  }

  const ModelStepsView& view_;
  const ModelSteps& steps_;
  std::vector<int64_t> tokens_;
  int64_t partner_;  // whose products are shown: the pair's, else that of the largest weight
  std::vector<int64_t> score_parts_;
  std::vector<int64_t> value_parts_;
  std::vector<std::string> token_labels_;
};

ImageFigure weights_over_picture(const ModelStepsView& view) {
  const auto grid = static_cast<size_t>(view.cols.grid_rows * view.cols.grid_cols);
  const std::vector<double>& all = view.steps.weights;
  const std::vector<float> weights(all.end() - static_cast<std::ptrdiff_t>(grid), all.end());
  ImagePanel panel{
      .title = "weights",
      .weights = Tensor::from<float>({view.cols.grid_rows, view.cols.grid_cols}, weights)};
  const int64_t front = view.steps.shape.cols - static_cast<int64_t>(grid);
  if (view.rows.grid_rows > 0 && view.steps.row >= front) {
    const int64_t patch = view.steps.row - front;
    panel.chosen = CellMark{patch / view.cols.grid_cols, patch % view.cols.grid_cols};
  }
  ImageFigure figure;
  figure.picture = seen_part(view.picture->picture, view.picture->grid);
  figure.panels = {std::move(panel)};
  figure.panels_across = 2;
  figure.scale = {0, std::max(double{*std::ranges::max_element(weights)}, 1e-30)};
  return figure;
}

// "3e-8": a bound, so it is rounded up.
std::string bound_text(double value) {
  if (value <= 0) return "0";
  const double exponent = std::floor(std::log10(value));
  const double digit = std::ceil(value / std::pow(10, exponent));
  if (digit > 9) return fmt::format("1e{:.0f}", exponent + 1);
  return fmt::format("{:.0f}e{:.0f}", digit, exponent);
}

std::string check_text(const ModelSteps& steps) {
  if (steps.similarity) {
    return fmt::format("The model's own q and k, compared in another way: {}.", kNotTheModel);
  }
  std::string text = fmt::format("Checked: equal to the captured map within {}.",
                                 bound_text(steps.map_difference));
  if (steps.output_difference) {
    text += fmt::format(" y is what the layer's own heads give, within {}.",
                        bound_text(*steps.output_difference));
  }
  return text;
}

}  // namespace

StepsFigure model_steps_figure(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  const StageMaker make(view);
  StepsFigure figure;
  figure.text.title =
      title_of(view.run, steps.site.kind,
               fmt::format("layer {}, head {} · {}{} step by step", steps.site.layer, steps.head,
                           view.token_name(), view.to ? " → " + view.column_name(*view.to) : ""));
  figure.text.caption = view.caption();
  figure.text.metadata = model_steps_metadata(view);
  if (view.over_picture()) figure.picture = weights_over_picture(view);
  figure.stages = {make.query(), make.keys(), make.products()};
  for (StepsStage& stage : make.scores()) figure.stages.push_back(std::move(stage));
  figure.stages.push_back(make.weights());
  figure.stages.push_back(make.values());
  figure.stages.push_back(make.weighted_sum());
  if (!steps.output.empty()) figure.stages.push_back(make.output());
  for (size_t i = 0; i < figure.stages.size(); ++i) {
    figure.stages[i].number = static_cast<int>(i) + 1;
  }
  figure.facts = model_steps_facts(view);
  figure.checks = {check_text(steps)};
  return figure;
}

}  // namespace fovea
