#include "fovea/ask/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "fovea/ask/question_kind.h"
#include "fovea/atlas/merged_map.h"
#include "fovea/base/error.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

constexpr std::string_view kOfQuestion =
    "a question";  // its values are checked before they are read

const std::vector<QuestionKind>& kinds() {
  static const std::vector<QuestionKind> all = all_question_kinds();
  return all;
}

HeadChoice head_choice_of(const Json& head) {
  if (head.is_int()) return {HeadChoice::Kind::kOne, head.as_int(kOfQuestion)};
  if (head.is_string()) return parse_head(head.as_string(kOfQuestion));
  HeadChoice some{.kind = HeadChoice::Kind::kSome};
  for (const Json& one : head.as_array(kOfQuestion)) some.some.push_back(one.as_int(kOfQuestion));
  return some;
}

Place parse_place(const Json& given) {
  Place place;
  if (const Json* site = given.find("site")) {
    place.site = parse_site_kind(site->as_string(kOfQuestion));
  }
  if (const Json* layer = given.find("layer")) {
    place.all_layers = layer->is_string();
    if (layer->is_int()) place.layer = layer->as_int(kOfQuestion);
  }
  if (const Json* head = given.find("head")) {
    place.head = head_choice_of(*head);
  }
  if (const Json* at = given.find("at")) {
    const Json::Array& spots = at->as_array(kOfQuestion);
    const bool one = spots.front().is_int();  // a kind may take one or several
    for (const Json& spot : one ? Json::Array{*at} : spots) {
      const Json::Array& pair = spot.as_array(kOfQuestion);
      place.at.push_back({pair[0].as_int(kOfQuestion), pair[1].as_int(kOfQuestion)});
    }
  }
  if (const Json* query = given.find("query")) place.query = query->as_int(kOfQuestion);
  if (const Json* token = given.find("token")) place.token = token->as_string(kOfQuestion);
  place.column = given.find("column") != nullptr;
  place.words = given.find("words") != nullptr;
  return place;
}

// One pixel, or a list of them where the kind takes several, or there are several.
Json spots_json(const Question& question) {
  Json::Array spots;
  for (const PictureSpot& spot : question.place.at) spots.push_back(Json::Array{spot.x, spot.y});
  const FieldInfo* field =
      question.kind.empty() ? nullptr : find_field(question_kind_named(question.kind).fields, "at");
  const bool several = field != nullptr ? field->several : spots.size() > 1;
  return several ? Json(std::move(spots)) : spots.front();
}

bool is_of_place(std::string_view name) {
  constexpr std::string_view kNames[] = {"site",  "layer", "head",   "at",
                                         "query", "token", "column", "words"};
  return std::ranges::count(kNames, name) > 0;
}

// Fields that only whole matrices have.
bool is_of_matrices(const Json& given) {
  const Json* layer = given.find("layer");
  return given.find("site") != nullptr || given.find("words") != nullptr ||
         (layer != nullptr && layer->is_string());
}

// Fields that a whole map has, or a part of it, and maps over a picture do not.
bool is_of_cells(const Json& given) {
  constexpr const char* kNames[] = {"rows",       "cols",         "around",      "exact",  "pool",
                                    "hide_sinks", "hide_special", "renormalise", "needles"};
  return std::ranges::any_of(kNames, [&](const char* name) { return given.find(name) != nullptr; });
}

// The usual kind for objects in a picture: the one that the fields belong to.
std::string usual_kind_of_objects(const Json& given) {
  const auto has = [&](std::string_view name) { return given.find(name) != nullptr; };
  if (has("top")) return "top_cells";
  if (has("to")) return "why";
  if (const Json* at = given.find("at")) {
    const bool several = at->is_array() && at->as_array(kOfQuestion).size() > 1 &&
                         at->as_array(kOfQuestion).front().is_array();
    return several ? "points" : "cells";
  }
  if (has("query")) return "queries";
  if (has("rows") || has("cols")) return "cell_matrix";
  return has("mask_from") || has("mask_cut") || has("in_box") ? "masks" : "objects";
}

// Whether a verb offers both.
bool stand_together(const QuestionKind& a, const QuestionKind& b) {
  return std::ranges::any_of(
      a.verbs, [&](const std::string& verb) { return std::ranges::count(b.verbs, verb) > 0; });
}

// Kinds beside this one that take the field, or a list of it.
std::vector<std::string> others_that_take(const QuestionKind& kind, const std::string& name,
                                          bool list) {
  std::vector<std::string> others;
  for (const QuestionKind& other : kinds()) {
    if (!stand_together(kind, other)) continue;
    const FieldInfo* field = find_field(other.fields, name);
    if (field != nullptr && (!list || field->or_list)) others.push_back(other.name);
  }
  return others;
}

// Several heads have a map each, which a kind that shows one has no room for.
void check_list(const QuestionKind& kind, const FieldInfo& field, const Json& value) {
  if (!is_list(value) || field.or_list || field.name != "head") return;
  const std::vector<std::string> others = others_that_take(kind, field.name, /*list=*/true);
  fail(ErrorKind::kInvalidArgument, Field{field.name},
       "{} takes one, not several; give a number{}{}", kind.name,
       field.words.empty() ? "" : fmt::format(" or {}", fmt::join(field.words, ", ")),
       others.empty() ? ""
                      : fmt::format(", or choose another `kind`: {} show{} several",
                                    fmt::join(others, ", "), others.size() == 1 ? "s" : ""));
}

// Who else takes a field that this kind does not, of those that stand beside it.
void check_kind_takes(const QuestionKind& kind, const std::string& name, const Json& value) {
  if (const FieldInfo* field = find_field(kind.fields, name)) {
    return check_list(kind, *field, value);
  }
  const std::vector<std::string> others = others_that_take(kind, name, /*list=*/false);
  if (others.empty()) return;
  fail(ErrorKind::kInvalidArgument, Field{name},
       "{} does not take it but {}; leave it out, or choose another `kind`", kind.name,
       fmt::format("{} {}", fmt::join(others, ", "), others.size() == 1 ? "does" : "do"));
}

}  // namespace

std::optional<double> Question::number(std::string_view name) const {
  const Json* value = fields.find(name);
  if (value == nullptr) return {};
  return value->as_double(kOfQuestion);
}

std::optional<std::string> Question::word(std::string_view name) const {
  const Json* value = fields.find(name);
  if (value == nullptr) return {};
  return value->as_string(kOfQuestion);
}

const QuestionKind& question_kind_named(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &QuestionKind::name);
  if (found != kinds().end()) return *found;
  std::vector<std::string> names;
  for (const QuestionKind& kind : kinds()) names.push_back(kind.name);
  fail(ErrorKind::kInvalidArgument, Field{"kind"}, "'{}' is no kind of question; it is one of {}{}",
       name, fmt::join(names, ", "), did_you_mean(name, names));
}

std::string usual_kind(const Json& given, RunSort sort) {
  const auto has = [&](std::string_view name) { return given.find(name) != nullptr; };
  if (sort == RunSort::kObjects) return usual_kind_of_objects(given);
  if (sort == RunSort::kPicture && !is_of_matrices(given)) {
    if (has("top")) return "top_patches";
    if (!is_of_cells(given)) return "maps";
  }
  if (has("top")) return "top";
  if (has("token") || has("column")) return "read";
  const Json *head = given.find("head"), *layer = given.find("layer");
  const bool one_map = head != nullptr && !is_list(*head) &&
                       !(head->is_string() && head->as_string(kOfQuestion) == "all") &&
                       !(layer != nullptr && layer->is_string());
  return one_map ? "matrix" : "heads";
}

void check_page(const Question& question) {
  if (question.kind.empty()) return;
  const QuestionKind& kind = question_kind_named(question.kind);
  if (!kind.has_page) {
    fail(ErrorKind::kInvalidArgument, Field{"kind"},
         "a page has no {}; write it as a picture, or ask for maps to move through", kind.name);
  }
  const Json asked = to_json(question);
  for (const auto& [name, value] : asked.as_object(kOfQuestion)) {
    const FieldInfo* field = find_field(kind.fields, name);
    if (field == nullptr || field->on_page) continue;
    fail(ErrorKind::kInvalidArgument, Field{name},
         "it has no place on a page, which shows maps to move through; leave it out");
  }
}

Question parse_question(const Json& json, RunSort sort) {
  Question question;
  if (!json.is_object()) {
    fail(ErrorKind::kInvalidArgument, "a question is an object of named values but this is {}",
         json.type_name());
  }
  Json given = Json::object();
  for (const auto& [name, value] : json.as_object(kOfQuestion)) {
    if (name != "kind") {
      if (is_given(value)) given.set(name, value);
    } else if (value.is_string()) {
      question.kind = question_kind_named(value.as_string(kOfQuestion)).name;
    } else if (!value.is_null()) {
      fail(ErrorKind::kInvalidArgument, Field{"kind"}, "it is {} but must be a name", value.dump());
    }
  }
  if (question.kind.empty()) question.kind = usual_kind(given, sort);
  const QuestionKind& kind = question_kind_named(question.kind);
  for (const auto& [name, value] : given.as_object(kOfQuestion))
    check_kind_takes(kind, name, value);
  const Json checked = checked_fields(kind.fields, given, kind.name);
  question.place = parse_place(checked);
  for (const auto& [name, value] : checked.as_object(kOfQuestion)) {
    if (!is_of_place(name)) question.fields.set(name, value);
  }
  return question;
}

Json to_json(const Question& question) {
  const Place& place = question.place;
  Json json = Json::object();
  if (!question.kind.empty()) json.set("kind", question.kind);
  if (place.site) json.set("site", to_string(*place.site));
  if (place.all_layers) json.set("layer", "all");
  if (place.layer) json.set("layer", *place.layer);
  if (place.head) json.set("head", to_json(*place.head));
  if (!place.at.empty()) json.set("at", spots_json(question));
  if (place.query) json.set("query", *place.query);
  if (place.token) json.set("token", *place.token);
  if (place.column) json.set("column", true);
  if (place.words) json.set("words", true);
  for (const auto& [name, value] : question.fields.as_object(kOfQuestion)) json.set(name, value);
  return json;
}

std::vector<FieldInfo> joined_fields(std::vector<FieldInfo> fields, std::vector<FieldInfo> more) {
  std::ranges::move(more, std::back_inserter(fields));
  return fields;
}

FieldInfo site_field() {
  FieldInfo field{.name = "site",
                  .shown = "NAME",
                  .help = "which attention",
                  .type = FieldType::kChoice,
                  .otherwise = "what suits model and question",
                  .models = "models that attend in several ways"};
  for (const SiteName& site : site_names()) {
    field.words.emplace_back(site.name);
    if (site.name != site.alias) field.aliases.emplace(site.alias, site.name);
  }
  return field;
}

FieldInfo layer_field(bool all_layers) {
  FieldInfo field{
      .name = "layer",
      .shown = all_layers ? "N|all" : "N",
      .help = all_layers ? "which layer, from 0; all: every layer's heads" : "which layer, from 0",
      .type = FieldType::kInteger,
      .low = 0,
      .otherwise = "the last"};
  if (all_layers) field.words = {"all"};
  return field;
}

FieldInfo head_field(std::vector<std::string> words) {
  const std::string otherwise =
      words.back() == "all" ? "all; their mean where one map is shown" : "their mean";
  return {.name = "head",
          .shown = fmt::format("N|{}", fmt::join(words, "|")),
          .help = words.size() == 1 ? "which head, from 0, or the mean of all"
                                    : "which head, from 0, or their mean, largest or smallest",
          .type = FieldType::kInteger,
          .words = words,
          .low = 0,
          .otherwise = otherwise};
}

FieldInfo heads_field() {
  FieldInfo field = head_field();
  field.shown = "N[,N..]|mean|max|min|all";
  field.help = "which head, from 0, several as 0,3,7, or their mean, largest or smallest";
  field.or_list = true;
  return field;
}

FieldInfo token_field() {
  return {.name = "token",
          .shown = "WORD|i",
          .help =
              "one token (a word, with `words`): by its text, its number from 0, or #number "
              "where the text itself is a number",
          .or_index = true};
}

FieldInfo at_field(bool several) {
  return {.name = "at",
          .shown = "X,Y",
          .help = several ? "pixels of the picture, several as X,Y:X,Y:..."
                          : "the patch or cell at this pixel of the picture",
          .type = FieldType::kPixel,
          .several = several};
}

FieldInfo query_field() {
  return {.name = "query",
          .shown = "N",
          .help = "one object query, from 0",
          .type = FieldType::kInteger,
          .low = 0,
          .models = "models that find objects"};
}

FieldInfo column_field() {
  return {.name = "column",
          .help = "who attends to the token, not what it attends to",
          .type = FieldType::kFlag,
          .rules = {{.needs = "token", .why = "shows who attends to a token"}}};
}

FieldInfo words_field() {
  return {.name = "words",
          .help = "put the pieces of words together: rows by mean, columns by sum",
          .type = FieldType::kFlag};
}

FieldInfo exact_field() {
  return {.name = "exact",
          .help = "every cell: a map too large for a figure is refused, not pooled",
          .type = FieldType::kFlag,
          .on_page = false};
}

FieldInfo of_field() {
  FieldInfo field{.name = "of",
                  .help =
                      "what is drawn: the weight; how many times what even attention gives; "
                      "the score before softmax; the weight times the length of its value",
                  .type = FieldType::kChoice,
                  .otherwise = "weight; of whole maps above 64 positions times-even"};
  for (const std::string_view name : map_value_names()) field.words.emplace_back(name);
  return field;
}

FieldInfo scale_field() {
  return {.name = "scale",
          .help = "how a value becomes a colour",
          .type = FieldType::kChoice,
          .words = {"linear", "sqrt", "log"},
          .otherwise = "linear; log of times-even"};
}

FieldInfo range_field() {
  return {.name = "range",
          .shown = "LOW:HIGH",
          .help = "the ends of the colours, as values (0:0.5) or percentiles (1%:99%)",
          .otherwise = "0 to the largest; of times-even a 32nd to 32"};
}

std::vector<FieldInfo> drawing_fields() {
  FieldInfo of = of_field();
  of.otherwise = "weight";
  return {std::move(of), scale_field(), range_field()};
}

std::vector<FieldInfo> picture_drawing_fields() {
  FieldInfo of = of_field(), scale = scale_field(), range = range_field();
  of.otherwise = "times-even; files of numbers hold weights";
  scale.otherwise = "log of times-even, else linear";
  range.otherwise =
      "of times-even from even to 8, or to 32 where a map goes beyond 8; else to the largest";
  return {std::move(of),
          std::move(scale),
          std::move(range),
          {.name = "smooth",
           .help = "blend colours between patches, where nothing was computed",
           .type = FieldType::kFlag,
           .on_page = false}};
}

FieldInfo pool_field() {
  return {.name = "pool",
          .help =
              "what a bin of a long map is: rows by mean and columns by sum, or its largest "
              "weight",
          .type = FieldType::kChoice,
          .words = {"mean", "max"},
          .otherwise = "mean",
          .on_page = false};
}

std::vector<FieldInfo> hiding_fields() {
  return {{.name = "hide_sinks",
           .help = "leave out attention sinks: columns of mean weight 0.1 or more",
           .type = FieldType::kFlag,
           .on_page = false},
          {.name = "hide_special",
           .help = "leave out the columns of special tokens",
           .type = FieldType::kFlag,
           .on_page = false},
          {.name = "renormalise",
           .help = "divide each row by what is not hidden",
           .type = FieldType::kFlag,
           .on_page = false}};
}

FieldInfo needles_field() {
  return {
      .name = "needles",
      .shown = "N",
      .help =
          "rings around so many bins of a long map that hold a single weight of 0.3 or more, the "
          "strongest",
      .type = FieldType::kInteger,
      .low = 0,
      .high = 1000,
      .otherwise = "40 where a bin is more than 16 tokens; else none",
      .on_page = false};
}

std::vector<FieldInfo> part_fields() {
  const auto range = [](const char* name, const char* help) {
    return FieldInfo{.name = name,
                     .shown = "A:B",
                     .help = help,
                     .type = FieldType::kRange,
                     .otherwise = "all",
                     .on_page = false};
  };
  FieldInfo around{.name = "around",
                   .shown = "TOKEN[:N]",
                   .help = "only so many positions before and behind a token (N: 32)",
                   .on_page = false,
                   .rules = {{.excludes = "rows", .why = "chooses the rows"},
                             {.excludes = "cols", .why = "chooses the columns"}}};
  return {range("rows",
                "only these rows, from A up to but not with B, from 0; A or B may be left "
                "out"),
          range("cols", "only these columns"), std::move(around)};
}

}  // namespace fovea
