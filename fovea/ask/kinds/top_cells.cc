// The largest weights of a cell or an object query of a detector, as lists with names.
#include <fmt/format.h>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/ask/top_answer.h"

namespace fovea {
namespace {

SiteKind site_of_rows(const Question& question, const Engine&, bool) {
  return question.place.query ? SiteKind::kCross : SiteKind::kEncoderSelf;
}

Answer answer_top_cells(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  ViewChoice choice = view_choice(question);
  choice.kind = site_of_rows(question, found.engine(), /*sees_picture=*/true);
  if (question.place.query) {
    choice.token = fmt::format("#{}", *question.place.query);
  } else if (!question.place.at.empty()) {
    choice.token = fmt::format("#{}", cell_at(found.input(), "at", question.place.at.front()));
  }
  return top_answer(choice, question, run);
}

}  // namespace

QuestionKind top_cells_question() {
  FieldInfo at = at_field(), column = column_field(), query = query_field();
  column.help = "who attends to the cell, not what it attends to";
  column.rules = {{.needs = "at", .why = "shows who attends to a cell"}};
  query.rules = {{.excludes = "at", .why = "chooses the row"},
                 {.excludes = "column", .why = "shows what a query attends to"}};
  return {.name = "top_cells",
          .view = "top",
          .summary = "the largest weights of a cell, a query or a part of the rows, as lists",
          .fields = detection_fields(joined_fields(
              {layer_field(), head_field(), at, query, column, top_field(), exact_field()},
              part_fields())),
          .verbs = {"detect"},
          .has_maps = false,
          .has_page = false,
          .site = site_of_rows,
          .check = check_finds_objects,
          .check_input = check_spots,
          .needs = detection_needs,
          .answer = answer_top_cells};
}

}  // namespace fovea
