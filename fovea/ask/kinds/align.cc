// A translation's alignment: source and target words that cross-attention joins.
#include "fovea/ask/alignment.h"
#include "fovea/ask/map_answer.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/explain/alignment/head_ranking.h"
#include "fovea/figure/align_view.h"

namespace fovea {
namespace {

struct ChosenMap {
  AlignOptions options;
  PairMaps pair;
  MapChoice choice;
};

ChosenMap chosen_map(const Question& question, const FinishedRun& run) {
  if (!run.is_translation()) {
    fail(ErrorKind::kUnsupported,
         "an alignment is of a text and its translation; neither a captured run nor token ids say "
         "where their words are");
  }
  const Translation& translation = run.translation;
  ChosenMap map{.options = align_options(question),
                .pair = pair_maps(run.run(), translation.prefix, translation.anchors)};
  HeadRanking ranking({.convention = map.options.convention, .links = map.options.links});
  ranking.add(map.pair);
  map.choice = choose_map(ranking.statistics(), map.options);
  return map;
}

Answer answer_align(const Question& question, const FinishedRun& run) {
  const ChosenMap map = chosen_map(question, run);
  const AlignFigure figure = align_view(run.run(), map.pair, map.choice, map.options,
                                        {.pieces = question.flag("pieces"),
                                         .hard = question.flag("hard"),
                                         .drawing = map_drawing(view_choice(question), 1)});
  std::vector<Link> links;
  for (const CellMark& mark : figure.links) links.push_back({mark.col, mark.row});
  const auto or_mean = [](const auto& number) { return number ? Json(*number) : Json("mean"); };
  Answer answer{.figure = figure};
  answer.facts = Json::object({{"site", to_string(SiteKind::kCross)},
                               {"layer", or_mean(map.choice.layer)},
                               {"head", or_mean(map.choice.head)},
                               {"direction", "row"},
                               {"method", "alignment"}});
  answer.facts.set("result", Json::object({{"map", to_json(map.choice)},
                                           {"links", links_json(sorted_links(std::move(links)))}}));
  return answer;
}

// All maps of the translation; it opens at the one that the alignment is read from.
PageOptions align_page(const Question& question, const FinishedRun& run) {
  const MapChoice choice = chosen_map(question, run).choice;
  const ViewChoice drawn = view_choice(question);
  PageOptions options{.choice = {.of = drawn.of, .curve = drawn.curve, .range = drawn.range},
                      .opens_at = SiteKind::kCross,
                      .opens_at_layer = choice.layer,
                      .opens_at_head = choice.head};
  if (!choice.head) options.choice.head = {.kind = HeadChoice::Kind::kMean};
  return options;
}

}  // namespace

QuestionKind align_question() {
  std::vector<FieldInfo> fields = align_fields();
  fields.push_back(
      {.name = "hard", .help = "show the links alone", .type = FieldType::kFlag, .on_page = false});
  fields.push_back({.name = "pieces",
                    .help = "show tokens as the model has them instead of words",
                    .type = FieldType::kFlag,
                    .on_page = false});
  return {.name = "align",
          .summary = "which source word each target word comes from",
          .fields = joined_fields(std::move(fields), drawing_fields()),
          .verbs = {"translate"},
          .only_of = SiteKind::kCross,
          .check = check_translates,
          .needs = [](const Question& question,
                      const OpenedInput&) { return RunNeeds{.blocks = question.flag("norms")}; },
          .answer = answer_align,
          .page = align_page};
}

}  // namespace fovea
