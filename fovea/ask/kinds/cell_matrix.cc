// The encoder's map of every cell with every cell, as a whole or a part of it.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/figure/detection_matrix.h"

namespace fovea {
namespace {

constexpr int64_t kMostShown = 2048;  // cells a side of a part

bool asks_for_part(const ViewChoice& choice) {
  return choice.rows || choice.cols || choice.around;
}

// Refuses a part that there is not, and one of more cells than can be shown.
void check_range(const std::optional<AxisPart>& part, std::string_view field, int64_t cells) {
  const AxisPart asked = part.value_or(AxisPart{});
  const int64_t begin = asked.begin.value_or(0), end = asked.end.value_or(cells);
  if (!part && cells > kMostShown) {
    fail(ErrorKind::kInvalidArgument, Field{field},
         "it is left out, but {} cells are too many; give a part of them, A:B", cells);
  }
  if (end - begin > kMostShown) {
    fail(ErrorKind::kInvalidArgument, Field{field}, "{}:{} are {} cells but {} at most are shown",
         begin, end, end - begin, kMostShown);
  }
  if (end > cells || begin >= end) {
    fail(ErrorKind::kInvalidArgument, Field{field}, "{}:{} is beyond the map, which has {} cells",
         begin, end, cells);
  }
}

void check_part(const ViewChoice& choice, int64_t cells) {
  if (!asks_for_part(choice) || choice.around) return;
  check_range(choice.rows, "rows", cells);
  check_range(choice.cols, "cols", cells);
}

void check_asked_part(const Question& question, const OpenedInput& opened) {
  if (!opened.picture) return;
  check_part(view_choice(question), opened.picture->grid.patches());
}

Answer answer_cell_matrix(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  ViewChoice choice = view_choice(question);
  choice.kind = SiteKind::kEncoderSelf;
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, choice.layer);
  const HeadChoice head = single_map(choice.head, *record);
  check_part(choice, record->shape().rows);
  return detection_answer(asks_for_part(choice) ? cells_part_figure(found.scene(), choice)
                                                : cells_figure(found.scene(), choice),
                          question, found, record, head);
}

}  // namespace

QuestionKind cell_matrix_question() {
  return {.name = "cell_matrix",
          .view = "matrix",
          .summary = "the encoder's whole map, pooled to fit, or a part of its rows and columns",
          .fields = detection_fields(joined_fields(
              {layer_field(), head_field(), of_field(), scale_field(), range_field(), pool_field()},
              part_fields())),
          .verbs = {"detect"},
          .only_of = SiteKind::kEncoderSelf,
          .check = check_finds_objects,
          .check_input = check_asked_part,
          .needs = detection_needs,
          .answer = answer_cell_matrix,
          .page = [](const Question& question, const FinishedRun&) {
            return detection_page(question, SiteKind::kEncoderSelf);
          }};
}

}  // namespace fovea
