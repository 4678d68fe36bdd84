// The steps of a model as a chain of small matrices. A figure shows the tokens and the numbers that
// count most; all of them are in the files of numbers.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fovea/base/version.h"
#include "fovea/capture/words.h"
#include "fovea/cli/steps/model.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

// What fits side by side in one figure.
constexpr int64_t kMostFigureTokens = 10;
constexpr int64_t kMostFigureNumbers = 6;

class StageMaker {
 public:
  explicit StageMaker(const ModelStepsView& view)
      : view_(view),
        steps_(view.steps),
        tokens_(shown_tokens(view.steps, kMostFigureTokens)),
        strongest_(strongest_token(view.steps)),
        score_parts_(largest_entries(view.steps.products.row(strongest_), kMostFigureNumbers)),
        value_parts_(largest_entries(view.steps.z, kMostFigureNumbers)) {
    for (const int64_t j : tokens_) token_labels_.push_back(label(j));
  }

  std::string label(int64_t token) const { return printable(plain_label(view_.cols, token)); }

  // Rows of `matrix` at the shown tokens, columns at `parts`.
  StepsStage matrix(const Matrix& matrix, const std::vector<int64_t>& parts) const {
    StepsStage stage{.row_labels = token_labels_, .col_labels = numbers(parts)};
    std::vector<float> values;
    for (const int64_t j : tokens_) {
      for (const int64_t d : parts) values.push_back(static_cast<float>(matrix(j, d)));
    }
    stage.values = tensor(tokens_.size(), parts.size(), values);
    return stage;
  }

  // One number per shown token.
  StepsStage column(const std::vector<double>& all) const {
    StepsStage stage{.row_labels = token_labels_};
    std::vector<float> values;
    for (const int64_t j : tokens_) {
      values.push_back(static_cast<float>(all[static_cast<size_t>(j)]));
    }
    stage.values = tensor(tokens_.size(), 1, values);
    return stage;
  }

  StepsStage lines(const std::vector<std::string>& names,
                   const std::vector<std::vector<double>>& vectors,
                   const std::vector<int64_t>& parts) const {
    StepsStage stage{.row_labels = names, .col_labels = numbers(parts)};
    std::vector<float> values;
    for (const std::vector<double>& vector : vectors) {
      for (const int64_t d : parts) {
        values.push_back(static_cast<float>(vector[static_cast<size_t>(d)]));
      }
    }
    stage.values = tensor(vectors.size(), parts.size(), values);
    return stage;
  }

  StepsStage query() const {
    StepsStage stage =
        lines({printable(plain_label(view_.rows, steps_.row))}, {steps_.q}, score_parts_);
    stage.name = "Query";
    stage.formula = projection_formula(view_, 'q');
    stage.explanation = fmt::format(
        "What {} asks for{}. Shown are {} of its {} numbers, those that count most in its score "
        "with \"{}\".",
        view_.token_name(), view_.facts.main.rotary ? ", turned by its position" : "",
        score_parts_.size(), steps_.shape.head_dim, label(strongest_));
    return stage;
  }

  StepsStage keys() const {
    StepsStage stage = matrix(steps_.k, score_parts_);
    stage.name = "Keys";
    stage.formula = projection_formula(view_, 'k');
    if (view_.is_cross()) stage.formula += ", s: the source";
    if (view_.is_pool()) stage.formula += ", s: the patches";
    stage.explanation = "What each token can be found by.";
    if (static_cast<int64_t>(tokens_.size()) < steps_.shape.cols) {
      double rest = steps_.sum;
      for (const int64_t j : tokens_) rest -= steps_.weights[static_cast<size_t>(j)];
      stage.explanation += fmt::format(
          " Shown are {} of {} tokens, those with the largest weights; the others have {:.3f} "
          "together.",
          tokens_.size(), steps_.shape.cols, std::abs(rest));
    }
    return stage;
  }

  StepsStage products() const {
    StepsStage stage = matrix(steps_.products, score_parts_);
    stage.name = "Products";
    stage.formula = is_cosine() ? "q(d) · k(d) / |q| |k|" : "q(d) · k(d)";
    stage.explanation = "Query times key, number by number.";
    return stage;
  }

  StepsStage scores() const {
    StepsStage stage = column(steps_.scores);
    stage.name = "Scores";
    stage.formula = fmt::format("s = {}", is_cosine() ? "q · k / |q| |k|" : "q · k");
    stage.explanation = fmt::format("The sum of all {} products.", steps_.shape.head_dim);
    return stage;
  }

  StepsStage scaled() const {
    const std::vector<double>& values = !steps_.capped.empty() ? steps_.capped : steps_.scaled;
    StepsStage stage = column(values);
    if (steps_.capped.empty() && !steps_.bias.empty()) {
      std::vector<double> biased = steps_.scaled;
      for (size_t j = 0; j < biased.size(); ++j) biased[j] += steps_.bias[j];
      stage = column(biased);
    }
    stage.name = "Scaled";
    stage.formula = scaled_formula(view_);
    stage.explanation = scaled_sentence(view_);
    return stage;
  }

  StepsStage masked() const {
    StepsStage stage = column(steps_.masked);
    stage.name = "Masked";
    stage.formula = mask_formula(view_);
    stage.explanation = mask_sentence(view_);
    return stage;
  }

  StepsStage weights() const {
    StepsStage stage = column(steps_.weights);
    for (size_t r = 0; r < tokens_.size(); ++r) {
      if (!steps_.allowed(tokens_[r])) {
        stage.values.mutable_values<float>()[r] = std::numeric_limits<float>::quiet_NaN();
      }
    }
    stage.name = "Softmax";
    stage.formula = "a = exp(s) / Σ exp(s)";
    stage.explanation =
        fmt::format("Shares of one whole; all {} sum to {:.3f}.", steps_.shape.cols, steps_.sum);
    if (steps_.similarity) stage.explanation += fmt::format(" This is {}.", kNotTheModel);
    stage.is_weight = true;
    return stage;
  }

  StepsStage values() const {
    StepsStage stage = matrix(steps_.v, value_parts_);
    stage.name = "Values";
    stage.formula = projection_formula(view_, 'v');
    stage.explanation = fmt::format(
        "What each token passes on. Shown are {} of {} numbers, the largest of the weighted sum.",
        value_parts_.size(), steps_.shape.value_dim);
    return stage;
  }

  StepsStage weighted_sum() const {
    StepsStage stage = lines({"z"}, {steps_.z}, value_parts_);
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
    StepsStage stage =
        lines(names, vectors, largest_entries(steps_.head_output, kMostFigureNumbers));
    stage.name = "Output";
    stage.formula = steps_.output_bias.empty() ? "y = z Wo" : "y = z Wo + bo";
    stage.explanation = fmt::format(
        "What the heads add to {}. Shown are {} of {} numbers, those where this head adds most.",
        view_.token_name(), stage.col_labels.size(), steps_.width());
    return stage;
  }

  bool is_masked() const { return mask_sentence(view_) != ""; }

 private:
  bool is_cosine() const {
    return steps_.similarity && std::holds_alternative<Cosine>(*steps_.similarity);
  }
  static std::vector<std::string> numbers(const std::vector<int64_t>& parts) {
    std::vector<std::string> names;
    for (const int64_t part : parts) names.push_back(std::to_string(part));
    return names;
  }
  static Tensor tensor(size_t rows, size_t cols, const std::vector<float>& values) {
    return Tensor::from({static_cast<int64_t>(rows), static_cast<int64_t>(cols)}, values);
  }

  const ModelStepsView& view_;
  const ModelSteps& steps_;
  std::vector<int64_t> tokens_;
  int64_t strongest_;
  std::vector<int64_t> score_parts_;
  std::vector<int64_t> value_parts_;
  std::vector<std::string> token_labels_;
};

}  // namespace

Json model_steps_metadata(const ModelStepsView& view) {
  Json json = Json::object();
  json.set("version", version());
  json.set("method", "steps");
  json.set("model", view.run.model);
  json.set("model_hash", view.run.model_hash);
  json.set("input", view.input);
  if (view.is_cross()) json.set("target", view.rows.source);
  json.set("site", to_string(view.steps.site));
  json.set("layer", view.steps.site.layer);
  json.set("head", view.steps.head);
  json.set("row", view.steps.row);
  json.set("similarity", view.similarity_name());
  return json;
}

StepsFigure model_steps_figure(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  const StageMaker make(view);
  StepsFigure figure;
  figure.text.title = title_of(view.run, steps.site.kind,
                               fmt::format("layer {}, head {} · {} step by step", steps.site.layer,
                                           steps.head, view.token_name()));
  figure.text.caption = view.caption();
  figure.text.metadata = model_steps_metadata(view);
  if (view.over_picture()) figure.picture = model_steps_picture(view);
  figure.stages = {make.query(), make.keys(), make.products(), make.scores(), make.scaled()};
  if (make.is_masked()) figure.stages.push_back(make.masked());
  figure.stages.push_back(make.weights());
  figure.stages.push_back(make.values());
  figure.stages.push_back(make.weighted_sum());
  if (!steps.output.empty()) figure.stages.push_back(make.output());
  return figure;
}

}  // namespace fovea
