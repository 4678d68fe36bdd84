// Why one cell attends to another: the score split into content and position, head by head.
#include <fmt/format.h>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/figure/score_split_view.h"

namespace fovea {
namespace {

// `result` has what all answers about objects say.
Json why_result(Json result, const CellPair& pair) {
  result.set("from", pair.from_name);
  result.set("to", pair.to_name);
  result.set("scale", double{pair.record->rule.scale});
  Json heads = Json::array();
  for (const ScoreSplit& split : pair.heads) {
    Json entry = Json::object({{"head", split.head},
                               {"content_content", split.content_content},
                               {"content_position", split.content_position},
                               {"position_content", split.position_content},
                               {"position_position", split.position_position},
                               {"score", split.score},
                               {"weight", split.weight}});
    Json dimensions = Json::array();
    for (const DimensionProduct& each : split.dimensions) {
      dimensions.push_back(Json::object({{"dimension", each.dimension},
                                         {"query", each.query},
                                         {"key", each.key},
                                         {"product", each.product}}));
    }
    entry.set("dimensions", std::move(dimensions));
    heads.push_back(std::move(entry));
  }
  result.set("heads", std::move(heads));
  return result;
}

MapData why_data(const CellPair& pair, const FigureText& text) {
  MapData data{.weights = term_values(pair), .rows = {.name = "heads"}, .cols = {.name = "terms"}};
  for (const ScoreSplit& split : pair.heads) {
    data.rows.positions.push_back({.text = fmt::format("head {}", split.head)});
  }
  for (const char* term : {"content · content", "content · position", "position · content",
                           "position · position", "score"}) {
    data.cols.positions.push_back({.text = term});
  }
  data.text = text;
  return data;
}

PictureSpot spot_to(const Question& question) {
  const Json::Array& pair = question.fields.at("to", "a question").as_array("a question");
  return {pair[0].as_int("a question"), pair[1].as_int("a question")};
}

void check_pair(const Question& question, const OpenedInput& opened) {
  check_spots(question, opened);
  if (opened.picture) cell_at(*opened.picture, "to", spot_to(question));
}

Answer answer_why(const Question& question, const FinishedRun& run) {
  const DetectedObjects found(run, question);
  const RecordPointer record = found.record(SiteKind::kEncoderSelf, question.place.layer);
  const HeadChoice head = question.place.head.value_or(HeadChoice{});
  const CellPair pair = split_pair(found.scene(), record, head,
                                   cell_at(found.input(), "at", question.place.at.front()),
                                   cell_at(found.input(), "to", spot_to(question)));
  StepsFigure figure = why_figure(found.scene(), pair);
  const FigureText text = figure.text;
  Answer answer = detection_answer(std::move(figure), question, found, record, head);
  answer.facts.set("result", why_result(answer.facts.at("result", "an answer"), pair));
  answer.numbers_apart = [pair, text] { return why_data(pair, text); };
  return answer;
}

}  // namespace

QuestionKind why_question() {
  FieldInfo head = head_field({"all"}), at = at_field(), to = at_field();
  head.otherwise = "all";
  at.required = to.required = true;
  to.name = "to";
  to.help = "with `at`: why that cell attends to this one";
  to.rules = {{.needs = "at", .why = "is what another cell attends to"}};
  return {
      .name = "why",
      .summary = "why one cell attends to another: content and position",
      .fields = detection_fields({layer_field(), head, at, to}),
      .verbs = {"detect"},
      .only_of = SiteKind::kEncoderSelf,
      .check = check_finds_objects,
      .check_input = check_pair,
      .needs = [](const Question&,
                  const OpenedInput&) { return RunNeeds{.all_logits = true, .positions = true}; },
      .answer = answer_why,
      .page =
          [](const Question& question, const FinishedRun& run) {
            const DetectedObjects found(run, question);
            return detection_page(question, SiteKind::kEncoderSelf,
                                  cell_at(found.input(), "at", question.place.at.front()));
          }};
}

}  // namespace fovea
