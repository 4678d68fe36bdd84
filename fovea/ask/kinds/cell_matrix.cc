// The encoder's map of every cell with every cell, as a whole or a part of it.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/figure/detection_matrix.h"

namespace fovea {
namespace {

constexpr int64_t kMostShown = 2048;  // cells a side of a part

bool asks_for_part(const Question& question) {
  return question.fields.find("rows") != nullptr || question.fields.find("cols") != nullptr;
}

CellRange range_of(const Question& question, std::string_view field, int64_t cells) {
  const Json* given = question.fields.find(field);
  if (given == nullptr) {
    if (cells <= kMostShown) return {0, cells};
    fail(ErrorKind::kInvalidArgument, Field{field},
         "it is left out, but {} cells are too many; give a part of them, A:B", cells);
  }
  const Json::Array& pair = given->as_array("a question");
  const CellRange range{pair[0].as_int("a question"), pair[1].as_int("a question")};
  if (range.end - range.begin > kMostShown) {
    fail(ErrorKind::kInvalidArgument, Field{field}, "{}:{} are {} cells but {} at most are shown",
         range.begin, range.end, range.end - range.begin, kMostShown);
  }
  if (range.end > cells) {
    fail(ErrorKind::kInvalidArgument, Field{field}, "{}:{} is beyond the map, which has {} cells",
         range.begin, range.end, cells);
  }
  return range;
}

void check_part(const Question& question, const OpenedInput& opened) {
  if (!opened.picture || !asks_for_part(question)) return;
  for (const char* field : {"rows", "cols"}) {
    range_of(question, field, opened.picture->grid.patches());
  }
}

Answer answer_cell_matrix(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  ViewChoice choice = view_choice(question);
  choice.kind = SiteKind::kEncoderSelf;
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, choice.layer);
  const HeadChoice head = single_map(choice.head, *record);
  if (!asks_for_part(question)) {
    return detection_answer(cells_figure(found.scene(), choice), question, found, record, head);
  }
  const CellRange rows = range_of(question, "rows", record->shape().rows);
  const CellRange cols = range_of(question, "cols", record->shape().cols);
  return detection_answer(cells_part_figure(found.scene(), record, head, rows, cols), question,
                          found, record, head);
}

}  // namespace

QuestionKind cell_matrix_question() {
  return {.name = "cell_matrix",
          .view = "matrix",
          .summary = "the encoder's whole map, pooled to fit, or a part of its rows and columns",
          .fields = detection_fields({layer_field(),
                                      head_field(),
                                      {.name = "rows",
                                       .shown = "A:B",
                                       .help = "a part of the encoder's map: its rows",
                                       .type = FieldType::kRange,
                                       .otherwise = "all"},
                                      {.name = "cols",
                                       .shown = "A:B",
                                       .help = "and its columns",
                                       .type = FieldType::kRange,
                                       .otherwise = "all"}}),
          .verbs = {"detect"},
          .only_of = SiteKind::kEncoderSelf,
          .check = check_finds_objects,
          .check_input = check_part,
          .needs = detection_needs,
          .answer = answer_cell_matrix,
          .page = [](const Question& question, const FinishedRun&) {
            return detection_page(question, SiteKind::kEncoderSelf);
          }};
}

}  // namespace fovea
