// `fovea steps INPUT`: one token's attention in a real model, as text, as a figure and as data.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/model_steps.h"
#include "fovea/engine/picture_input.h"
#include "fovea/render/figure.h"

namespace fovea {

// What "not the model's own" numbers are captioned with, wherever they appear.
inline constexpr std::string_view kNotTheModel = "not what the model computed";

// What --similarity takes to show them beside each other.
inline constexpr std::string_view kAllSimilarities = "all";

// What is shown, and what the user left to be chosen.
struct ModelStepsView {
  Run run;
  std::string input;  // the text, or the name of the picture file
  Axis rows;          // what asks
  Axis cols;          // what is looked at: the same text, or in cross-attention the source
  ModelFacts facts;
  ModelSteps steps;
  std::vector<ModelSteps> others;  // the same q and k under other similarities; mostly none
  ScoreRule rule;
  std::string token_note;            // what was chosen where a word had several pieces
  std::vector<std::string> choices;  // "the last layer", "head 0": nobody asked for them

  std::optional<PictureInput> picture;  // what the axes of patches were cut from

  bool is_cross() const { return steps.site.kind == SiteKind::kCross; }
  bool is_pool() const { return steps.site.kind == SiteKind::kPool; }
  // Whether the weights lie on parts of a picture that is there.
  bool over_picture() const { return picture && cols.grid_rows > 0; }
  std::string token_name() const;  // "fox" in quotes, fit to print
  std::string similarity_name() const;
  // Row or column, layer, head, what the numbers are and what they sum to.
  std::string caption() const;
};

// Runs the model on what is given. Throws Error{kInvalidArgument} if there is no such layer,
// head or token.
ModelStepsView read_model_steps(const GivenInput& given, const Args& args);

// The tokens with the largest weights, in the order of the text. All of them if they are `most` at
// most; otherwise none that the mask hides.
std::vector<int64_t> shown_tokens(const ModelSteps& steps, int64_t most);
// The `most` entries that are farthest from 0, in their order.
std::vector<int64_t> largest_entries(std::span<const double> values, int64_t most);
// The token with the largest weight.
int64_t strongest_token(const ModelSteps& steps);
double length_of(std::span<const double> vector);
// How "q", "k" or "v" is made: "q = norm(x) Wq + bq".
std::string projection_formula(const ModelStepsView& view, char part);
// What the scores become before the mask, in formulas and in a sentence.
std::string scaled_formula(const ModelStepsView& view);
std::string scaled_sentence(const ModelStepsView& view);
// Which tokens the mask hides, the same.
std::string mask_formula(const ModelStepsView& view);
std::string mask_sentence(const ModelStepsView& view);

std::string model_steps_text(const ModelStepsView& view, const Terminal& terminal);
// The weights over the picture that they lie on, the chosen patch framed. Only with a picture.
ImageFigure model_steps_picture(const ModelStepsView& view);
std::string model_steps_picture_text(const ModelStepsView& view, const Terminal& terminal);
StepsFigure model_steps_figure(const ModelStepsView& view);
Json model_steps_json(const ModelStepsView& view);
// What a figure of the steps says about itself in its file.
Json model_steps_metadata(const ModelStepsView& view);

// `others` beside the model's own weights, as text, as data, and by the suffix as either or as a
// figure.
std::string model_similarities_text(const ModelStepsView& view, const Terminal& terminal);
Json model_similarities_json(const ModelStepsView& view);
void write_model_similarities(const std::filesystem::path& path, const ModelStepsView& view);

// Throws Error{kInvalidArgument} unless the suffix is .json, .npz, .png, .svg or .pdf.
void check_model_steps_suffix(const std::filesystem::path& path);
void write_model_steps(const std::filesystem::path& path, const ModelStepsView& view);

}  // namespace fovea
