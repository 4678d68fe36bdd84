// One token's attention in a real model, step by step: the words about it and the drawing of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/model_steps.h"
#include "fovea/figure/figure.h"
#include "fovea/vision/patch_grid.h"

namespace fovea {

// The caption of numbers that the model itself did not compute, wherever they appear.
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
  bool adds_positions = false;               // the model adds positions to inputs of q and k
  std::optional<PatchPicture> picture = {};  // the picture that patches were cut from
  std::optional<int64_t> to = {};            // the column of a pair; none: the whole row
  std::string note = {};                     // which token was chosen among several
  std::vector<std::string> defaults = {};    // chosen for the user: "the last layer", "head 0"

  bool is_cross() const { return steps.site.kind == SiteKind::kCross; }
  bool is_pool() const { return steps.site.kind == SiteKind::kPool; }
  // Whether the weights lie on parts of a picture that is known.
  bool over_picture() const { return picture && cols.grid_rows > 0; }
  std::string token_name() const;                 // "fox" in quotes, fit to print
  std::string column_name(int64_t column) const;  // the name of a column, fit to print
  std::string similarity_name() const;
  // The caption: row, layer, head, what the numbers are and what they sum to; for a pair its
  // weight.
  std::string caption() const;
};

// The stages from the query to what the head adds. Above them is the picture under the weights,
// with the chosen patch framed.
StepsFigure model_steps_figure(const ModelStepsView& view);
// The weights of `others`, below the model's own weights.
MatrixFigure model_similarities_figure(const ModelStepsView& view);

// The lines above the stages: which token, what was chosen for the user, and where the token
// stands.
std::vector<std::string> model_steps_facts(const ModelStepsView& view);

// The metadata of a figure of the steps.
Json model_steps_metadata(const ModelStepsView& view);

// The tokens with the largest weights, in the order of the text, and `always`. All tokens if there
// are at most `most`; otherwise hidden ones are left out, except `always`.
std::vector<int64_t> shown_tokens(const ModelSteps& steps, int64_t most,
                                  std::optional<int64_t> always = {});
// The `most` entries that are farthest from 0, in their order.
std::vector<int64_t> largest_entries(std::span<const double> values, int64_t most);

// The formula that makes "q", "k" or "v": "q = norm(x) Wq + bq".
std::string projection_formula(const ModelStepsView& view, char part);
// How scores are scaled and what is added to them, as a formula and as a sentence.
std::string scaled_formula(const ModelSteps& steps);
std::string scaled_sentence(const ModelSteps& steps);
std::string bias_sentence(const ScoreRule& rule);
// The same for the mask: which tokens it hides. The sentence is empty if it hides none.
std::string mask_formula(const ModelStepsView& view);
std::string mask_sentence(const ModelStepsView& view);

}  // namespace fovea
