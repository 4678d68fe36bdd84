// One token's attention in a real model, step by step: what is told of it and drawn from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/model_steps.h"
#include "fovea/figure/figure.h"
#include "fovea/vision/patch_grid.h"

namespace fovea {

// What "not the model's own" numbers are captioned with, wherever they appear.
inline constexpr std::string_view kNotTheModel = "not what the model computed";

// A picture, and the patches that the model cut from it.
struct PatchPicture {
  Picture picture;
  PatchGrid grid;
};

struct ModelStepsView {
  Run run;
  std::string input;  // the text, or the name of the picture file
  Axis rows;          // what asks
  Axis cols;          // what is looked at: the same text, or in cross-attention the source
  ModelSteps steps;
  std::vector<ModelSteps> others = {};  // the same q and k under other similarities; mostly none
  ScoreRule rule;
  bool rotary = false;                       // q and k are turned by their positions
  bool adds_positions = false;               // to what asks and is asked, as detectors do
  std::optional<PatchPicture> picture = {};  // what the axes of patches were cut from
  std::optional<int64_t> to = {};            // the column of a pair; none: the whole row
  std::string note = {};                     // which token was taken where there was a choice
  std::vector<std::string> defaults = {};    // what nobody asked for: "the last layer", "head 0"

  bool is_cross() const { return steps.site.kind == SiteKind::kCross; }
  bool is_pool() const { return steps.site.kind == SiteKind::kPool; }
  // Whether the weights lie on parts of a picture that is there.
  bool over_picture() const { return picture && cols.grid_rows > 0; }
  std::string token_name() const;                 // "fox" in quotes, fit to print
  std::string column_name(int64_t column) const;  // the same of what is looked at
  std::string similarity_name() const;
  // Row, layer, head, what the numbers are and what they sum to; of a pair its weight.
  std::string caption() const;
};

// Stages from the query to what the head adds; above them the picture that the weights lie on, the
// chosen patch framed.
StepsFigure model_steps_figure(const ModelStepsView& view);
// The weights of `others` below the model's own.
MatrixFigure model_similarities_figure(const ModelStepsView& view);

// Told above the stages: which token, what of it was left to be chosen, and where it stands.
std::vector<std::string> model_steps_facts(const ModelStepsView& view);

// What a figure of the steps says about itself in its file.
Json model_steps_metadata(const ModelStepsView& view);

// The tokens with the largest weights, in the order of the text, and `always`. All of them if they
// are `most` at most; otherwise no other that the mask hides.
std::vector<int64_t> shown_tokens(const ModelSteps& steps, int64_t most,
                                  std::optional<int64_t> always = {});
// The `most` entries that are farthest from 0, in their order.
std::vector<int64_t> largest_entries(std::span<const double> values, int64_t most);

// How "q", "k" or "v" is made: "q = norm(x) Wq + bq".
std::string projection_formula(const ModelStepsView& view, char part);
// How scores are scaled, in a formula and in a sentence, and what is added to them.
std::string scaled_formula(const ModelSteps& steps);
std::string scaled_sentence(const ModelSteps& steps);
std::string bias_sentence(const ScoreRule& rule);
// Which tokens the mask hides, the same; the sentence is empty where it hides none.
std::string mask_formula(const ModelStepsView& view);
std::string mask_sentence(const ModelStepsView& view);

}  // namespace fovea
