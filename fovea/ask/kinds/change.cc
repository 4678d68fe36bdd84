// Shows what a model says when positions are hidden, edges cut or heads silenced, beside what it
// says unchanged.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/ask/changes.h"
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/outcomes.h"
#include "fovea/ask/places.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/base/version.h"

namespace fovea {
namespace {

constexpr std::string_view kOfChange = "a change";

// The attention that places are of where they name no other: the most telling.
SiteKind site_of_places(const Question& question, const Engine& engine, bool sees_picture) {
  if (question.place.site) return site_taken(*question.place.site, engine, sees_picture);
  return sites_of(engine.facts(), sees_picture).front();
}

SiteKind site_of_places(const Question& question, const OpenedInput& opened) {
  return site_of_places(question, opened.engine, !opened.encoded.patches.positions.empty());
}

// The map to show of both runs; none where the question names no place.
std::optional<Question> map_asked(const Question& question, SiteKind kind, RunSort sort) {
  Json json = to_json(question);
  Json place = Json::object();
  const Json* map = json.find("map");
  for (const char* name :
       {"layer", "head", "at", "query", "token", "column", "words", "of", "scale", "range"}) {
    if (const Json* value = json.find(name)) place.set(name, *value);
  }
  if (map == nullptr && place.as_object(kOfChange).empty()) return {};
  const std::string name = map != nullptr ? map->as_string(kOfChange) : usual_kind(place, sort);
  place.set("kind", name);
  if (find_field(question_kind_named(name).fields, "site") != nullptr) {
    place.set("site", to_string(kind));
  }
  return parse_question(place, sort);
}

// The same input, and of a translation the same words, through the changed model.
FinishedRun changed_run(const FinishedRun& run, const std::vector<Intervention>& changes,
                        bool maps) {
  const OpenedInput& opened = *run.opened;
  EncodedInput input = opened.encoded;
  if (const Axis* target = run.run().find_axis("target");
      target != nullptr && run.is_translation()) {
    input.inputs = run.result().inputs;
    input.target = *target;
  }
  RunOptions options = run_options(run.has, maps ? RecorderOptions{} : RecorderOptions::nothing());
  options.changes = changes;
  FinishedRun changed = run;
  changed.translation.result = opened.engine.run(input, options);
  changed.translation.result.run.axes = run.run().axes;
  changed.translation.result.run.picture = run.run().picture;
  return changed;
}

// The text that the changed model writes by itself.
std::optional<std::string> new_translation(const FinishedRun& run,
                                           const std::vector<Intervention>& changes) {
  if (!run.is_translation() || run.translation.forced) return {};
  const OpenedInput& opened = *run.opened;
  const std::string& source = std::get<Text>(opened.input.what).text;
  return opened.translator
      ->translate(source, opened.input.translate,
                  {.record = RecorderOptions::nothing(), .changes = changes})
      .target;
}

// Gives two figures of one kind the larger of their ranges, so that colours mean the same in both.
void share_colors(Figure& a, Figure& b) {
  std::visit(
      [&](auto& first) {
        auto* second = std::get_if<std::decay_t<decltype(first)>>(&b);
        if constexpr (requires { first.scale.high; }) {
          if (second == nullptr) return;
          first.scale.high = second->scale.high = std::max(first.scale.high, second->scale.high);
          first.scale.low = second->scale.low = std::min(first.scale.low, second->scale.low);
        }
      },
      a);
}

// Of two whole matrices, what the second has more; a cell that only one of them allows counts as 0
// where it is forbidden.
std::optional<MatrixFigure> map_change(const Figure& before, const Figure& after) {
  const auto* was = std::get_if<MatrixFigure>(&before);
  const auto* is = std::get_if<MatrixFigure>(&after);
  if (was == nullptr || is == nullptr || was->weights.shape() != is->weights.shape()) return {};
  MatrixFigure figure = *is;
  figure.weights = is->weights.clone();
  const auto from = was->weights.values<float>();
  double most = 0;
  size_t i = 0;
  for (float& weight : figure.weights.mutable_values<float>()) {
    const float old = from[i++];
    if (std::isnan(weight) && std::isnan(old)) continue;
    weight = (std::isnan(weight) ? 0 : weight) - (std::isnan(old) ? 0 : old);
    most = std::max(most, double{std::abs(weight)});
  }
  figure.scale = {most > 0 ? -most : -1, most > 0 ? most : 1};
  figure.value_name =
      is->value_name == "attention weight" ? "change of weight" : "change of " + is->value_name;
  if (figure.overview) {  // where rows are stays true; what they gave does not
    figure.overview = MapOverview{.row_names = std::move(figure.overview->row_names)};
  }
  return figure;
}

MapData stacked(const MapData& before, const MapData& after) {
  MapData both = before;
  const auto panels = [&](const MapData& data, const std::string& when) {
    if (data.panels.empty()) both.panels.push_back(when);
    for (const std::string& panel : data.panels) both.panels.push_back(when + " · " + panel);
  };
  both.panels.clear();
  panels(before, "before");
  panels(after, "after");
  const Tensor& one = before.weights;
  both.weights = Tensor::uninitialized(
      {std::ssize(both.panels), one.size(one.rank() - 2), one.size(one.rank() - 1)});
  auto out = both.weights.mutable_values<float>().begin();
  out = std::ranges::copy(before.weights.values<float>(), out).out;
  std::ranges::copy(after.weights.values<float>(), out);
  return both;
}

void clear_text(Figure& figure) {
  std::visit([](auto& each) { each.text.title.clear(), each.text.caption.clear(); }, figure);
}

// Adds the map of both runs to the table, and where it was taken to the facts.
void add_maps(Answer& answer, Question asked, const FinishedRun& before, const FinishedRun& after) {
  const QuestionKind& kind = question_kind_named(asked.kind);
  // Weights unless something else is asked for, at any length, so that both can be told apart.
  const bool chooses = find_field(kind.fields, "of") != nullptr;
  if (chooses && !asked.fields.find("of")) asked.fields.set("of", "weight");
  check_place(asked, *before.opened);
  if (kind.check_input != nullptr) kind.check_input(asked, *before.opened);
  Answer was = kind.answer(asked, before), is = kind.answer(asked, after);
  for (const char* name : {"site", "layer", "head", "direction", "method"}) {
    if (const Json* value = was.facts.find(name)) answer.facts.set(name, *value);
  }
  const FigureText text = text_in(was.figure);
  const MapData from = numbers_of(was), to = numbers_of(is);
  if (from.weights.shape() == to.weights.shape()) answer.numbers = stacked(from, to);
  share_colors(was.figure, is.figure);
  SheetFigure sheet{.text = std::get<TableFigure>(answer.figure).text};
  sheet.text.caption += " · map: " + text.caption;
  clear_text(answer.figure);
  std::optional<MatrixFigure> change = map_change(was.figure, is.figure);
  sheet.parts = {{"", std::move(answer.figure)},
                 {"before", std::move(was.figure)},
                 {"after", std::move(is.figure)}};
  if (change) sheet.parts.push_back({"after − before", std::move(*change)});
  for (SheetPart& part : sheet.parts) clear_text(part.figure);
  answer.figure = std::move(sheet);
}

FigureText change_text(const FinishedRun& run, const AskedChanges& changes,
                       const std::optional<std::string>& translation) {
  FigureText text{.title = std::filesystem::path(run.run().model).filename().string() + " · " +
                           (changes.said.empty() ? "nothing changed" : "changed"),
                  .metadata = Json::object()};
  text.caption = changes.said.empty()
                     ? "Before and after are the same: nothing is hidden, cut or silenced"
                     : fmt::format("After: {}", fmt::join(changes.said, ", "));
  if (translation) {
    text.caption += fmt::format(" · it was translated \"{}\" and is \"{}\" now",
                                run.translation.target, *translation);
  }
  text.metadata.set("version", version());
  text.metadata.set("model", run.run().model);
  text.metadata.set("model_hash", run.run().model_hash);
  text.metadata.set("changes", changes.facts);
  return text;
}

Answer answer_change(const Question& question, const FinishedRun& run) {
  if (!run.opened) {
    fail(ErrorKind::kUnsupported,
         "a change runs the model again but this is a captured run, which holds maps alone; give "
         "the text or picture itself");
  }
  const SiteKind site = site_of_places(question, *run.opened);
  const AskedChanges changes = asked_changes(question, run, site);
  const std::optional<Question> map = map_asked(question, site, run.sort());
  const FinishedRun after = changed_run(run, changes.all, map.has_value());
  const std::vector<OutcomeGroup> groups = outcomes(run, after, threshold_of(question));
  const std::optional<std::string> translation = new_translation(run, changes.all);

  TableFigure table = outcome_table(groups);
  table.text = change_text(run, changes, translation);
  Answer answer{.figure = std::move(table)};
  Json result = Json::object({{"changes", changes.facts}, {"outcomes", to_json(groups)}});
  if (translation) {
    result.set("translation",
               Json::object({{"before", run.translation.target}, {"after", *translation}}));
  }
  if (map) result.set("map", map->kind);
  answer.facts = Json::object({{"result", std::move(result)}});
  answer.notes = changes.notes;
  if (map) add_maps(answer, *map, run, after);
  return answer;
}

void check_change(const Question&, const OpenedInput& opened) {
  if (!opened.input.generate) return;
  fail(ErrorKind::kInvalidArgument, Field{"generate"},
       "a change tells how likely the next word is, before and after; leave it out");
}

RunNeeds change_needs(const Question& question, const OpenedInput& opened) {
  const RunNeeds outputs = outcome_needs(opened.engine.facts());
  const auto map = map_asked(question, site_of_places(question, opened), opened.sort());
  if (!map) return outputs;
  const QuestionKind& kind = question_kind_named(map->kind);
  return kind.needs != nullptr ? outputs.with(kind.needs(*map, opened)) : outputs;
}

std::vector<FieldInfo> fields_of_change() {
  std::vector<FieldInfo> fields = {site_field(),   layer_field(/*all_layers=*/true),
                                   head_field(),   token_field(),
                                   column_field(), words_field(),
                                   at_field(),     query_field()};
  for (FieldInfo& field : drawing_fields()) {
    field.help += " (of the map)";
    fields.push_back(std::move(field));
  }
  fields[0].help = "the attention that positions and places are of";
  fields[4].rules.clear();  // of a picture the token in front of the patches, if none is named
  for (FieldInfo& field : change_fields()) fields.push_back(std::move(field));
  fields.push_back({.name = "map",
                    .shown = "KIND",
                    .help = "the map to show before and after",
                    .type = FieldType::kChoice,
                    .words = {"matrix", "heads", "read", "lines", "align", "maps", "cells",
                              "queries", "objects"},
                    .otherwise = "what suits the layer, head or token that is named, else none"});
  return detection_fields(std::move(fields));
}

}  // namespace

QuestionKind change_question() {
  return {.name = "change",
          .summary = "what the model says without a word, an edge or a head, beside what it says",
          .fields = fields_of_change(),
          .verbs = {"change"},
          .has_page = false,
          .site = site_of_places,
          .check_input = check_change,
          .needs = change_needs,
          .answer = answer_change};
}

}  // namespace fovea
