#include "fovea/ask/map_answer.h"

#include "fovea/ask/predictions.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

Json model_facts(const FinishedRun& finished) {
  const Run& run = finished.run();
  Json json = Json::object({{"name", run.model}, {"hash", run.model_hash}});
  json.set("architecture",
           finished.opened ? Json(finished.opened->engine.architecture().name) : Json());
  if (!run.model_note.empty()) json.set("note", run.model_note);
  return json;
}

Json array_facts(const ArrayFacts& arrays) {
  const WeightScan& scan = arrays.scan;
  return Json::object({{"file", arrays.file},
                       {"types", arrays.types},
                       {"rows", scan.rows},
                       {"rows_not_one", scan.not_one},
                       {"sums", Json(Json::Array{scan.least_sum, scan.most_sum})},
                       {"causal", arrays.causal}});
}

// The facts of the input; for a captured run, what the run tells about it.
Json input_facts(const FinishedRun& finished) {
  if (finished.opened) return to_json(finished.opened->input);
  if (finished.arrays) return Json::object({{"array", array_facts(*finished.arrays)}});
  Json json = Json::object({{"captured", true}});
  for (const Axis& axis : finished.run().axes) {
    if (axis.source.empty()) continue;
    json.set("text", axis.source);
    break;
  }
  return json;
}

Json axis_facts(const Axis& axis) {
  Json labels = Json::array(), special = Json::array();
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    labels.push_back(axis.positions[i].text);
    if (axis.positions[i].special) special.push_back(i);
  }
  Json json = Json::object({{"name", axis.name}});
  json.set("positions", std::move(labels));
  json.set("special", std::move(special));
  if (!axis.source.empty()) json.set("source", axis.source);
  if (axis.grid_rows > 0) json.set("grid", Json(Json::Array{axis.grid_rows, axis.grid_cols}));
  return json;
}

// For each token, the experts of this layer that it took and their shares: [[[3, 0.61], ...], ...].
Json expert_facts(const ExpertChoice& choice) {
  Json tokens = Json::array();
  for (int64_t token = 0; token < choice.tokens(); ++token) {
    Json taken = Json::array();
    for (int64_t i = 0; i < choice.taken(); ++i) {
      const auto place = static_cast<size_t>(token * choice.taken() + i);
      taken.push_back(Json(Json::Array{choice.chosen.values<int64_t>()[place],
                                       double{choice.shares.values<float>()[place]}}));
    }
    tokens.push_back(std::move(taken));
  }
  return tokens;
}

// Whether the answer to this question shows one attention alone.
bool shows_one_map(const Question& question) {
  return question.kind == "matrix" || question.kind == "read" || question.kind == "reading";
}

ScaleCurve scale_curve_named(std::string_view name) {
  return name == "log"    ? ScaleCurve::kLog
         : name == "sqrt" ? ScaleCurve::kSqrt
                          : ScaleCurve::kLinear;
}

}  // namespace

ViewChoice view_choice(const Question& question) {
  const Place& place = question.place;
  ViewChoice choice{.kind = place.site,
                    .layer = place.layer,
                    .all_layers = place.all_layers,
                    .head = place.head.value_or(HeadChoice{}),
                    .token = place.token,
                    .column = place.column,
                    .words = place.words,
                    .exact = question.flag("exact"),
                    .largest = question.word("pool") == "max",
                    .hide_sinks = question.flag("hide_sinks"),
                    .hide_special = question.flag("hide_special"),
                    .renormalise = question.flag("renormalise")};
  if (choice.renormalise && !choice.hide_sinks && !choice.hide_special) {
    fail(ErrorKind::kInvalidArgument, Field{"renormalise"},
         "it divides rows by what is left but nothing is hidden; give `hide_sinks` or "
         "`hide_special` too");
  }
  if (const auto of = question.word("of")) choice.of = map_value_named(*of);
  if (const auto scale = question.word("scale")) choice.curve = scale_curve_named(*scale);
  if (const auto range = question.word("range")) choice.range = parse_range(*range);
  if (const Json* needles = question.fields.find("needles")) {
    choice.needles = needles->as_int("a question");
  }
  const auto part = [&](const char* field) -> std::optional<AxisPart> {
    const auto given = question.word(field);
    if (!given) return {};
    return parse_part(field, *given);
  };
  choice.rows = part("rows");
  choice.cols = part("cols");
  if (const auto around = question.word("around")) choice.around = parse_around(*around);
  return choice;
}

Answer map_answer(Figure figure, const Question& question, const FinishedRun& run,
                  const HeadChoice& head) {
  const ViewChoice choice = view_choice(question);
  const RecordPointer record = chosen_record(run.run(), choice);
  const Json& metadata = text_in(figure).metadata;
  Json result = Json::object();
  for (const char* name : {"row", "column", "pooled"}) {
    const Json* value = metadata.find(name);
    if (value != nullptr && value->is_int()) result.set(name, *value);
  }
  const Json* layers = choice.all_layers ? metadata.find("layer") : nullptr;
  for (const char* name : {"apart", "hidden"}) {
    if (const Json* columns = metadata.find(name)) result.set(name, *columns);
  }
  if (const Json* sink = metadata.find("sink"); question.kind == "read" && sink != nullptr) {
    result.set("sink", *sink);
  }
  const ExpertChoice* experts = run.run().find_experts(record->site.layer);
  if (experts != nullptr && record->site.kind == SiteKind::kSelf && shows_one_map(question)) {
    result.set("experts", expert_facts(*experts));
  }
  Answer answer;
  answer.facts = Json::object({{"site", to_string(record->site.kind)},
                               {"layer", layers ? *layers : Json(record->site.layer)},
                               {"head", to_json(head)},
                               {"direction", choice.column ? "column" : "row"},
                               {"method", "attention"}});
  answer.figure = std::move(figure);
  answer.facts.set("result", std::move(result));
  return answer;
}

Json facts_of_run(const FinishedRun& run) {
  return Json::object(
      {{"model", model_facts(run)}, {"input", input_facts(run)}, {"outputs", output_facts(run)}});
}

// Beside the title of every figure, where nobody overlooks it.
static void mark_unlike_training(Figure& figure) {
  std::visit(
      [](auto& each) {
        std::string& badge = each.text.badge;
        badge = "unlike the training" + (badge.empty() ? "" : "; " + badge);
      },
      figure);
}

void complete_facts(Answer& answer, const Question& question, const FinishedRun& run) {
  if (run.result().unlike_training) mark_unlike_training(answer.figure);
  Json axes = Json::array();
  for (const Axis& axis : run.run().axes) axes.push_back(axis_facts(axis));
  complete_facts(answer, {.question = to_json(question),
                          .model = model_facts(run),
                          .input = input_facts(run),
                          .outputs = output_facts(run),
                          .axes = std::move(axes),
                          .notes = run.result().warnings});
}

}  // namespace fovea
