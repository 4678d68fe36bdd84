#include "fovea/cli/explain/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/version.h"
#include "fovea/capture/site.h"
#include "fovea/cli/explain/numbers.h"
#include "fovea/cli/model_options.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/render/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

double sum_of_scores(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0);
}

// From 0 or, where signs count, as far below as above; the position asked from is left out, for it
// is mostly far above all others.
ColorScale scale_of(const Explanation& explanation) {
  double most = 0;
  const auto look = [&](const std::vector<double>& scores, std::optional<int64_t> except) {
    for (size_t i = 0; i < scores.size(); ++i) {
      if (static_cast<int64_t>(i) != except) most = std::max(most, std::abs(scores[i]));
    }
  };
  look(explanation.scores, explanation.row);
  look(explanation.target_scores, {});
  if (!explanation.is_signed) return scale_to(most);
  return most > 0 ? ColorScale{-most, most} : ColorScale{-1, 1};
}

std::string title_text(const ExplainQuestion& question) {
  const std::string model = std::filesystem::path(question.result.run.model).filename().string();
  const std::string what =
      question.against
          ? fmt::format("{} rather than {}", question.target->name, question.against->name)
      : question.target                ? question.target->name
      : question.position_name.empty() ? std::string(name_of(question.kind))
                                       : question.position_name;
  return fmt::format("{} \u00b7 {} \u00b7 {}", model, question.method.name, what);
}

// What every caption says: the method, the row, layer and head, what the numbers are and their sum.
std::string caption_text(const ExplainQuestion& question, const Explanation& explanation) {
  std::string text = question.method.name;
  if (explanation.measures != text) text += ": " + explanation.measures;
  if (!question.position_name.empty()) {
    text += fmt::format(" \u00b7 row {}: {}", question.position, question.position_name);
  }
  text += fmt::format(" \u00b7 {}", name_of(question.kind));
  if (explanation.layer) text += fmt::format(", layer {}", *explanation.layer);
  if (question.head) text += fmt::format(", head {}", *question.head);
  if (question.target) text += " \u00b7 " + question.target->name;
  if (question.against) text += " rather than " + question.against->name;
  if (question.method.needs.position && !explanation.is_signed &&
      explanation.axis.name != "heads") {
    const double sum = sum_of_scores(explanation.scores) + sum_of_scores(explanation.target_scores);
    text += fmt::format(" \u00b7 sum {}", number_text(sum));
  }
  for (const std::string& note : question.notes) text += " \u00b7 " + note;
  for (const std::string& note : explanation.notes) text += " \u00b7 " + note;
  return text + model_note(question.result.run);
}

FigureText figure_text(const ExplainQuestion& question, const Explanation& explanation) {
  return {.title = title_text(question),
          .caption = caption_text(question, explanation),
          .metadata = {}};
}

Tensor score_grid(const std::vector<double>& scores, int64_t rows, int64_t cols) {
  const std::vector<float> cells(scores.end() - rows * cols, scores.end());
  return Tensor::from<float>({rows, cols}, cells);
}

MatrixFigure grid_figure(const ExplainQuestion& question, const Explanation& explanation) {
  const Axis& axis = explanation.axis;
  const bool heads = axis.name == "heads";
  MatrixFigure figure;
  figure.text = figure_text(question, explanation);
  figure.rows = numbered_axis(heads ? "layers" : "grid rows", axis.grid_rows);
  figure.cols = numbered_axis(heads ? "heads" : "grid columns", axis.grid_cols);
  figure.row_title = heads ? "layer" : "grid row";
  figure.col_title = heads ? "head" : "grid column";
  figure.weights = score_grid(explanation.scores, axis.grid_rows, axis.grid_cols);
  figure.scale = scale_of(explanation);
  figure.value_name = explanation.measures;
  return figure;
}

ImageFigure image_figure(const ExplainQuestion& question, const Explanation& explanation) {
  const Axis& axis = explanation.axis;
  ImageFigure figure;
  figure.picture = seen_part(question.picture->picture, question.picture->grid);
  figure.text = figure_text(question, explanation);
  ImagePanel panel{.title = question.method.name,
                   .weights = score_grid(explanation.scores, axis.grid_rows, axis.grid_cols)};
  const int64_t front = PictureAxis::of(axis).specials;
  if (explanation.row && *explanation.row >= front) {
    const int64_t patch = *explanation.row - front;
    panel.chosen = CellMark{patch / axis.grid_cols, patch % axis.grid_cols};
  }
  if (front > 0) {
    const std::vector<double> specials(explanation.scores.begin(),
                                       explanation.scores.begin() + front);
    figure.text.caption +=
        fmt::format(" \u00b7 {} on {}", number_text(sum_of_scores(specials)),
                    front == 1 ? axis.positions[0].text : fmt::format("{} special tokens", front));
  }
  figure.panels = {std::move(panel)};
  figure.panels_across = 2;
  // Special tokens are no part of the picture and must not dim it.
  Explanation patches = explanation;
  patches.scores.erase(patches.scores.begin(), patches.scores.begin() + front);
  if (patches.row) *patches.row -= front;
  figure.scale = scale_of(patches);
  if (explanation.is_signed) figure.contour_mass = 0;
  figure.value_name = explanation.measures;
  if (finds_objects(question)) figure.grid_name = "cells";
  return figure;
}

// Below the source what the decoder has read, where the method counts that; without the token that
// it starts from, which is no part of either text.
void add_target(const Explanation& explanation, ReadFigure& figure) {
  const auto shift = static_cast<int64_t>(figure.axis.source.size()) + 1;
  figure.axis.source += "\n" + explanation.target_axis.source;
  for (size_t i = 0; i < explanation.target_scores.size(); ++i) {
    Position position = explanation.target_axis.positions[i];
    if (i == 0 && position.special) continue;
    position.source_begin += shift;
    position.source_end += shift;
    figure.axis.positions.push_back(std::move(position));
    figure.weights.push_back(static_cast<float>(explanation.target_scores[i]));
  }
  for (Position& position : figure.axis.positions) position.word = -1;
}

ReadFigure read_figure(const ExplainQuestion& question, const Explanation& explanation) {
  ReadFigure figure;
  figure.text = figure_text(question, explanation);
  figure.axis = explanation.axis;
  figure.weights.assign(explanation.scores.begin(), explanation.scores.end());
  if (!explanation.target_scores.empty()) add_target(explanation, figure);
  figure.chosen = explanation.row.value_or(-1);
  figure.scale = scale_of(explanation);
  figure.value_name = explanation.measures;
  return figure;
}

Figure explanation_figure(const ExplainQuestion& question, const Explanation& explanation) {
  const Axis& axis = explanation.axis;
  if (axis.grid_rows == 0) return read_figure(question, explanation);
  if (axis.name == "heads" || !question.picture) return grid_figure(question, explanation);
  return image_figure(question, explanation);
}

}  // namespace

Content explanation_content(const ExplainQuestion& question, const Explanation& explanation,
                            const FaithfulnessCard* card) {
  const Json metadata = explanation_metadata(question, explanation, card);
  Content content{.figure = explanation_figure(question, explanation)};
  std::visit([&](auto& figure) { figure.text.metadata = metadata; }, content.figure);
  content.json = [json = explanation_json(question, explanation, card)] { return json; };
  content.write_data = [explanation, metadata](const std::filesystem::path& path) {
    write_explanation_numbers(path, explanation, metadata);
  };
  return content;
}

}  // namespace fovea
