#include "fovea/figure/explanation_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>

#include "fovea/capture/site.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// "0.25", "1.3e-05": as many digits as say something.
std::string number_text(double value) {
  return value != 0 && std::abs(value) < 0.005 ? fmt::format("{:.2g}", value)
                                               : fmt::format("{:.2f}", value);
}

double sum_of_scores(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0);
}

// A scale from 0 or, for signed scores, equally far below and above 0. The position asked from is
// left out: it is mostly far above all others.
ColorScale explanation_scale(const Explanation& explanation) {
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

std::string explanation_title(const ExplanationView& view) {
  const std::string_view what = !view.answer.empty()          ? std::string_view(view.answer)
                                : !view.position_name.empty() ? std::string_view(view.position_name)
                                                              : name_of(view.kind);
  return fmt::format("{} \u00b7 {} \u00b7 {}",
                     std::filesystem::path(view.run.model).filename().string(), view.method.name,
                     what);
}

// The caption: the method, the row, layer and head, what the numbers are and their sum.
std::string explanation_caption(const ExplanationView& view) {
  const Explanation& explanation = view.explanation;
  std::string text = view.method.name;
  if (explanation.measures != text) text += ": " + explanation.measures;
  if (!view.position_name.empty()) {
    text += fmt::format(" \u00b7 row {}: {}", view.position, view.position_name);
  }
  text += fmt::format(" \u00b7 {}", name_of(view.kind));
  if (explanation.layer) text += fmt::format(", layer {}", *explanation.layer);
  if (view.head) text += fmt::format(", head {}", *view.head);
  if (!view.answer.empty()) text += " \u00b7 " + view.answer;
  if (view.method.needs.position && !explanation.is_signed && explanation.axis.name != "heads") {
    const double sum = sum_of_scores(explanation.scores) + sum_of_scores(explanation.target_scores);
    text += fmt::format(" \u00b7 sum {}", number_text(sum));
  }
  for (const std::string& note : view.notes) text += " \u00b7 " + note;
  for (const std::string& note : explanation.notes) text += " \u00b7 " + note;
  return text;
}

FigureText explanation_words(const ExplanationView& view) {
  return {.title = explanation_title(view), .caption = explanation_caption(view), .metadata = {}};
}

Tensor score_grid(const std::vector<double>& scores, int64_t rows, int64_t cols) {
  const std::vector<float> cells(scores.end() - rows * cols, scores.end());
  return Tensor::from<float>({rows, cols}, cells);
}

// The words of figures that add nothing to them.
FigureText whole_words(const ExplanationView& view) {
  FigureText words = explanation_words(view);
  words.caption += model_note(view.run);
  return words;
}

MatrixFigure explained_grid(const ExplanationView& view) {
  const Explanation& explanation = view.explanation;
  const Axis& axis = explanation.axis;
  const bool heads = axis.name == "heads";
  MatrixFigure figure;
  figure.text = whole_words(view);
  figure.rows = numbered_axis(heads ? "layers" : "grid rows", axis.grid_rows);
  figure.cols = numbered_axis(heads ? "heads" : "grid columns", axis.grid_cols);
  figure.row_title = heads ? "layer" : "grid row";
  figure.col_title = heads ? "head" : "grid column";
  figure.weights = score_grid(explanation.scores, axis.grid_rows, axis.grid_cols);
  figure.scale = explanation_scale(explanation);
  figure.value_name = explanation.measures;
  return figure;
}

// Over a picture signed scores go both ways from their mean size, up to 32 times it: a sum of many
// small ones and a few large ones shows both.
ColorScale signed_scale(std::span<const float> scores, std::string& note) {
  constexpr double kReach = 32;
  double size = 0, most = 0, for_it = 0, against = 0;
  for (const float score : scores) {
    size += std::abs(double{score});
    most = std::max(most, std::abs(double{score}));
    (score > 0 ? for_it : against) += double{score};
  }
  size /= static_cast<double>(std::max<size_t>(scores.size(), 1));
  if (!(size > 0)) return {-1, 1};
  const bool beyond = most > kReach * size;
  const ColorScale scale{.low = -kReach * size,
                         .high = kReach * size,
                         .curve = ScaleCurve::kSignedLog,
                         .below = beyond,
                         .above = beyond,
                         .least = size};
  const auto number = [](double value) { return (value > 0 ? "+" : "") + scale_text({}, value); };
  note = fmt::format(
      " · log colours from the mean size {} to {:g} times that, no colour below it · warm: speaks "
      "for it, cold: against · sum {}: {} and {}",
      scale_text({}, size), kReach, number(for_it + against), number(for_it), number(against));
  return scale;
}

// How many times an even share of all positions, special ones too, each patch has.
ColorScale share_scale(Tensor& scores, double sum, size_t positions, std::string& note) {
  const double even = sum / static_cast<double>(positions);
  double largest = 0;
  for (float& score : scores.mutable_values<float>()) {
    score = static_cast<float>(double{score} / even);
    largest = std::max(largest, double{score});
  }
  const ColorScale scale = even_scale(largest);
  note = even_note(scale, largest);
  return scale;
}

ImageFigure explained_picture(const ExplanationView& view) {
  const Explanation& explanation = view.explanation;
  const Axis& axis = explanation.axis;
  ImageFigure figure;
  figure.picture = seen_part(*view.picture, *view.grid);
  figure.text = explanation_words(view);
  ImagePanel panel{.title = view.method.name,
                   .weights = score_grid(explanation.scores, axis.grid_rows, axis.grid_cols)};
  const int64_t front = PictureAxis::of(axis).specials;
  figure.value_name = explanation.measures;
  std::string note;
  const double sum = sum_of_scores(explanation.scores);
  if (explanation.is_signed) {
    figure.scale = signed_scale(panel.weights.values<float>(), note);
    figure.contour_mass = 0;
  } else {
    panel.note = mass_note(panel.weights.matrix<float>());
    if (sum > 0) {
      figure.scale = share_scale(panel.weights, sum, explanation.scores.size(), note);
      figure.value_name += ", times even";
    }
  }
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
  figure.text.caption += note + seen_note(*view.grid) + model_note(view.run);
  figure.panels = {std::move(panel)};
  figure.panels_across = 2;
  figure.grid_name = view.grid_name;
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

// To the largest of what is no special token: these are grey, and mostly far above all others.
ColorScale scale_of_words(const ReadFigure& figure) {
  double most = 0;
  for (size_t i = 0; i < figure.weights.size(); ++i) {
    const bool counts =
        !figure.axis.positions[i].special && static_cast<int64_t>(i) != figure.chosen;
    if (counts) most = std::max(most, double{figure.weights[i]});
  }
  return most > 0 ? scale_to(most) : figure.scale;
}

// Shares that hardly differ would all be dark on a scale from 0: then they are told as times even.
void tell_times_even(ReadFigure& figure, double sum) {
  const double even = sum / static_cast<double>(figure.weights.size());
  constexpr double kHardly = 0.5;  // of an even share, less or more
  const bool alike = std::ranges::all_of(
      figure.weights, [&](float weight) { return double{weight} >= (1 - kHardly) * even; });
  if (!(sum > 0) || !alike || figure.scale.high > (1 + kHardly) * even) return;
  double largest = 0;
  for (float& weight : figure.weights) {
    weight = static_cast<float>(double{weight} / even);
    largest = std::max(largest, double{weight});
  }
  figure.scale = even_scale(largest);
  figure.value_name += ", times even";
  figure.text.caption += even_note(figure.scale, largest);
}

ReadFigure explained_text(const ExplanationView& view) {
  const Explanation& explanation = view.explanation;
  ReadFigure figure;
  figure.text = whole_words(view);
  figure.axis = explanation.axis;
  figure.weights.assign(explanation.scores.begin(), explanation.scores.end());
  if (!explanation.target_scores.empty()) add_target(explanation, figure);
  figure.chosen = explanation.row.value_or(-1);
  figure.scale = explanation_scale(explanation);
  if (!explanation.is_signed) figure.scale = scale_of_words(figure);
  figure.value_name = explanation.measures;
  if (!explanation.is_signed && view.method.needs.position) {
    tell_times_even(figure, sum_of_scores(explanation.scores));
  }
  return figure;
}

}  // namespace

Figure explanation_figure(const ExplanationView& view) {
  const Axis& axis = view.explanation.axis;
  if (axis.grid_rows == 0) return explained_text(view);
  if (axis.name == "heads" || view.picture == nullptr) return explained_grid(view);
  return explained_picture(view);
}

}  // namespace fovea
