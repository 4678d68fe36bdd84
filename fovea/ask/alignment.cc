#include "fovea/ask/alignment.h"

#include "fovea/ask/question_kind.h"

namespace fovea {
namespace {

constexpr int64_t kMostLayers = 1 << 20;  // more than any model has

}  // namespace

std::vector<FieldInfo> align_fields() {
  FieldInfo layer = layer_field(), head = head_field({"mean"});
  layer.otherwise = head.otherwise = "the best by the rule that needs no gold";
  return {layer,
          head,
          {.name = "read",
           .shown = "NAME",
           .help = "take a row for the word that the decoder reads there or for the one it writes",
           .type = FieldType::kChoice,
           .words = kTargetReadings.names(),
           .otherwise = "what suits the head"},
          {.name = "norms",
           .help = "weigh attention by the vectors it brings, ‖αf(x)‖, not by its weights alone",
           .type = FieldType::kFlag},
          {.name = "convention",
           .shown = "NAME",
           .help = "from tokens to words: merge their weights first, or join their links",
           .type = FieldType::kChoice,
           .words = kWordConventions.names(),
           .otherwise = "merge"},
          {.name = "links",
           .shown = "NAME",
           .help = "which cells are links: the largest of a row, all above the threshold, or the "
                   "largest of row and column",
           .type = FieldType::kChoice,
           .words = kLinkMethods.names(),
           .otherwise = "argmax"},
          {.name = "threshold",
           .shown = "W",
           .help = "what a link's weight is at least",
           .type = FieldType::kReal,
           .low = 0,
           .low_excluded = true,
           .otherwise = "0.2",
           .rules = {{.needs = "links", .value = "threshold", .why = "is for links above it"},
                     {.needs = "norms",
                      .why = "would leave nothing, because weights are at most 1",
                      .above = 1}}},
          {.name = "ignore_end",
           .help = "link a word even if its attention lies on the end of the sentence most",
           .type = FieldType::kFlag}};
}

AlignOptions align_options(const Question& question) {
  AlignOptions options;
  const Place& place = question.place;
  if (place.layer) options.layer = static_cast<int>(std::min(*place.layer, kMostLayers));
  if (place.head) {
    options.mean = place.head->kind == HeadChoice::Kind::kMean;
    if (!options.mean) options.head = place.head->head;
  }
  if (const auto read = question.word("read")) options.reading = kTargetReadings.named(*read);
  options.norms = question.flag("norms");
  if (const auto word = question.word("convention")) {
    options.convention = kWordConventions.named(*word);
  }
  // The best of one direction (docs/alignment.md). A second model brings the other direction
  // itself, and one sentence is shown with a link for every word that has one.
  if (question.kind == "align_pairs" && !question.word("reverse_model")) {
    options.links.method = LinkMethod::kMutual;
  }
  if (const auto word = question.word("links")) options.links.method = kLinkMethods.named(*word);
  if (const auto least = question.number("threshold")) options.links.threshold = *least;
  options.links.specials_compete = !question.flag("ignore_end");
  return options;
}

Json to_json(const MapChoice& choice) {
  return Json::object({{"name", to_string(choice)},
                       {"layer", number_or_null(choice.layer)},
                       {"head", number_or_null(choice.head)},
                       {"reading", kTargetReadings.name_of(choice.reading)},
                       {"confident", choice.confident},
                       {"why", choice.why}});
}

MapChoice map_choice_of(const Json& json) {
  constexpr std::string_view kWhere = "the choice of a map";
  const auto number = [&](const char* name) -> std::optional<int64_t> {
    const Json& value = json.at(name, kWhere);
    if (value.is_null()) return {};
    return value.as_int(kWhere);
  };
  MapChoice choice{.head = number("head"),
                   .reading = kTargetReadings.named(json.at("reading", kWhere).as_string(kWhere)),
                   .why = json.at("why", kWhere).as_string(kWhere),
                   .confident = json.at("confident", kWhere).as_bool(kWhere)};
  if (const auto layer = number("layer")) choice.layer = static_cast<int>(*layer);
  return choice;
}

Json links_json(const Alignment& links) {
  Json list = Json::array();
  for (const Link& link : links) list.push_back(Json(Json::Array{link.source, link.target}));
  return list;
}

}  // namespace fovea
