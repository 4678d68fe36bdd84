// What all kinds of questions about one picture share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fovea/ask/answer.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/ask/question_kind.h"
#include "fovea/capture/words.h"
#include "fovea/explain/pictures/artifacts.h"
#include "fovea/figure/picture_view.h"

namespace fovea {

// Adds to a kind what all of them have: the verb, `text`, and the checks before a model runs.
QuestionKind about_picture(QuestionKind kind);

FieldInfo patch_field(bool beside_token);  // "at"; it excludes `token`, if the kind has that
FieldInfo front_token_field();             // "token"
FieldInfo mask_field();                    // a share of the mass

// Reads the fields that choose a map over the picture. Throws Error{kInvalidArgument} about "at" or
// "token".
PictureChoice picture_choice(const Question& question, const FinishedRun& run);
// The patch on the grid that shows a pixel. Throws Error{kInvalidArgument} about `field` for a
// pixel that the model does not see.
int64_t patch_at(const PatchGrid& grid, PictureSpot spot, std::string_view field = "at");
// The position on an axis that shows a pixel. Throws Error{kInvalidArgument} about `field` as
// patch_at() does, and for an axis that is no part of the picture.
int64_t position_at(const PatchGrid& grid, const Axis& axis, PictureSpot spot,
                    std::string_view field = "at");
// The row of a picture that `at` or `token` names, or what comes in front of the patches.
FoundToken picture_row(const Place& place, const PatchGrid& grid, const Axis& rows,
                       const std::string& model);
// What the patch shows: "pixels 32 to 39 across, 16 to 23 down".
std::string pixels_text(const PatchGrid& grid, int64_t patch);
// The side of a patch in pixels of the model's input. Throws Error{kUnsupported} for a captured
// run, which does not know it.
int64_t patch_side(const FinishedRun& run);

// The picture as it was given, or the small copy that a captured run keeps of it.
struct PictureSeen {
  std::shared_ptr<const Picture> picture;
  PatchGrid grid;
};
PictureSeen picture_seen(const FinishedRun& run);
// That small copy, under the grid of this axis; none where there is no copy or no grid.
std::optional<PictureSeen> captured_picture(const Run& run, const Axis& axis);
// The picture as the model saw it, under the cells of this axis; none where there is no picture or
// no grid.
std::optional<Picture> picture_below(const FinishedRun& run, const Axis& cells);
// Whether a question is about the picture. With a text beside it, it is about the text unless it
// names an attention of the picture.
bool looks_at_picture(const Place& place, const OpenedInput& opened);

// None if the model does not give its states before the final norm, or saw no picture.
std::optional<Artifacts> artifacts_of(const FinishedRun& run);
Json to_json(const Artifacts& artifacts);

// The facts of an answer that shows rows of attention: "site", "layer", "head", "direction" and
// "method".
Json place_facts(SiteId site, const HeadChoice& head);
// The same for all layers.
Json place_facts(const Run& run, SiteKind kind, const HeadChoice& head);
// An answer from these facts and this result. Its result also says how well the texts of `text`
// match the picture.
Answer picture_answer(Figure figure, Json facts, Json result, const Question& question,
                      const FinishedRun& run);

}  // namespace fovea
