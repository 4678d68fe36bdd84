#include "fovea/ask/explanation_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<std::string> method_names(std::span<const Method> methods) {
  std::vector<std::string> names;
  for (const Method& method : methods) names.push_back(method.name);
  return names;
}

// "start-layer" is the field "start_layer".
std::string field_of_parameter(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

bool has_parameter(const Method& method, std::string_view field) {
  return std::ranges::any_of(method.parameters, [&](const MethodParameter& parameter) {
    return field_of_parameter(parameter.name) == field;
  });
}

FieldInfo parameter_field(const MethodParameter& parameter) {
  FieldInfo field{.name = field_of_parameter(parameter.name),
                  .shown = "N",
                  .help = parameter.help,
                  .type = FieldType::kReal,
                  .low = parameter.least,
                  .high = parameter.most,
                  .otherwise = parameter.otherwise};
  if (parameter.choices.empty()) return field;
  field.shown = "";
  field.type = FieldType::kChoice;
  field.words = parameter.choices;
  return field;
}

// One for each name, as wide as all methods together; check_parameters() knows what each takes.
std::vector<FieldInfo> parameter_fields() {
  std::vector<FieldInfo> fields;
  std::vector<std::vector<std::string>> methods;  // that have it
  for (const Method& method : all_methods()) {
    for (const MethodParameter& parameter : method.parameters) {
      const FieldInfo field = parameter_field(parameter);
      const auto known = std::ranges::find(fields, field.name, &FieldInfo::name);
      if (known == fields.end()) {
        fields.push_back(field);
        methods.push_back({method.name});
        continue;
      }
      methods[static_cast<size_t>(known - fields.begin())].push_back(method.name);
      known->low = std::min(known->low, field.low);
      known->high = std::max(known->high, field.high);
      for (const std::string& word : field.words) {
        if (std::ranges::count(known->words, word) == 0) known->words.push_back(word);
      }
    }
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string names = fmt::format("{}", fmt::join(methods[i], " and "));
    fields[i].help = fmt::format("{}: {}", names, fields[i].help);
    fields[i].rules = {{.beside = "method", .values = methods[i], .why = "is of " + names}};
  }
  return fields;
}

FieldInfo method_field() {
  return {.name = "method",
          .shown = "NAME",
          .help = "which question to ask",
          .type = FieldType::kChoice,
          .words = method_names(all_methods()),
          .otherwise =
              "relevancy; rollout for captured runs, and for models that embed if "
              "nothing is given to compare with"};
}

FieldInfo named_answer_field(std::string name, std::string help, std::string otherwise) {
  return {.name = std::move(name),
          .shown = "NAME|i",
          .help = std::move(help),
          .otherwise = std::move(otherwise),
          .may_be_empty = true,
          .or_index = true};
}

FieldInfo with_help(FieldInfo field, std::string help, std::string otherwise) {
  field.help = std::move(help);
  field.otherwise = std::move(otherwise);
  return field;
}

// That only some methods use.
FieldRule of_methods(bool (*use)(const Method& method), std::string why) {
  std::vector<Method> methods = all_methods();
  std::erase_if(methods, [&](const Method& method) { return !use(method); });
  return {.beside = "method", .values = method_names(methods), .why = std::move(why)};
}

std::vector<FieldInfo> place_fields() {
  FieldInfo at =
      with_help(at_field(), "the patch at this pixel of a picture, instead of [CLS]", "");
  at.rules = {{.excludes = "token", .why = "chooses a patch"}};
  FieldInfo layer =
      with_help(layer_field(), "which layer, for methods that look at one", "the last");
  layer.rules = {of_methods([](const Method& method) { return method.takes_layer; },
                            "is of methods that look at one layer")};
  FieldInfo head =
      with_help(head_field({"mean"}), "which head, for methods that look at one", "mean");
  head.rules = {of_methods([](const Method& method) { return method.takes_head; },
                           "is of methods that look at one head")};
  head.rules.front().above = -1;  // the mean of all heads is what other methods take
  FieldInfo span{.name = "span",
                 .shown = "TEXT|i-j",
                 .help =
                     "span-mass: the stretch of the input that is looked at; in a picture "
                     "positions count the special tokens, then the patches row by row"};
  span.rules = {of_methods([](const Method& method) { return method.needs.span; },
                           "is of methods that look at a stretch")};
  return {with_help(token_field(), "the position asked from",
                    "[CLS] or the first, of decoders the last; of translations the last word that "
                    "is written"),
          at,
          span,
          with_help(query_field(), "the object query, for models that find objects", "the surest"),
          computed_site_field(),
          layer,
          head};
}

// Only where something is checked.
FieldInfo check_field(FieldInfo field) {
  field.rules = {{.needs = "check", .why = "is how an explanation is checked"}};
  return field;
}

std::vector<FieldInfo> check_fields() {
  return {{.name = "check",
           .help = "grade the explanation: take positions away in its order, and compare with "
                   "random orders, the gradient and random weights (about 720 runs of the model)",
           .type = FieldType::kFlag},
          check_field({.name = "check_by",
                       .help = "how positions are taken away: mask token or mean colour in their "
                               "place, or hidden from attention",
                       .type = FieldType::kChoice,
                       .words = {"blank", "hide"},
                       .otherwise = "blank where the model knows one"}),
          check_field({.name = "check_orders",
                       .shown = "N",
                       .help = "random orders to compare with",
                       .type = FieldType::kInteger,
                       .low = 2,
                       .otherwise = fmt::format("{}; {} for each of many inputs", kOrdersOfOne,
                                                kOrdersOfEach)}),
          check_field({.name = "check_steps",
                       .shown = "N",
                       .help = "points of a curve",
                       .type = FieldType::kInteger,
                       .low = 1,
                       .otherwise = "20"}),
          check_field({.name = "check_seed",
                       .shown = "N",
                       .help = "the seed of random orders and weights",
                       .type = FieldType::kInteger,
                       .low = 0,
                       .otherwise = "0"}),
          check_field({.name = "check_cascade",
                       .help = "randomise weights from the last layer down, one layer more each "
                               "time, not only all at once",
                       .type = FieldType::kFlag})};
}

void add_all(std::vector<FieldInfo>& fields, std::vector<FieldInfo> more) {
  fields.insert(fields.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

}  // namespace

FieldInfo computed_site_field() {
  FieldInfo site = with_help(site_field(), "which attention, where the model has several", "");
  std::erase(site.words, to_string(SiteKind::kPanoptic));  // nothing is computed from its maps
  std::erase_if(site.aliases,
                [](const auto& alias) { return alias.second == to_string(SiteKind::kPanoptic); });
  return site;
}

std::vector<FieldInfo> explanation_fields() {
  std::vector<FieldInfo> fields{
      method_field(),
      named_answer_field(
          "class",
          "the answer asked about: a class by its label or number, a word that the model "
          "writes or its number in the vocabulary (#i where i is a word too), or a text "
          "to be similar to",
          "what the model answers"),
      named_answer_field(
          "against",
          "why that and not this: another class, word or text; alone, of models that "
          "embed, the text or picture to be similar to",
          "")};
  add_all(fields, place_fields());
  add_all(fields, check_fields());
  add_all(fields, parameter_fields());
  return fields;
}

std::vector<FieldInfo> comparison_fields() {
  std::vector<FieldInfo> fields = explanation_fields();
  std::erase_if(fields, [](const FieldInfo& field) {
    return field.name == "method" || field.name == "check" || field.name == "check_cascade";
  });
  for (FieldInfo& field : fields) {  // all are checked, and each method takes what it has
    std::erase_if(field.rules, [](const FieldRule& rule) {
      return rule.beside == "method" || rule.needs == "check";
    });
  }
  FieldInfo methods = with_help(method_field(), "the methods that are compared", "all");
  methods.name = "methods";
  methods.several = true;
  fields.insert(fields.begin(), std::move(methods));
  return fields;
}

std::vector<Method> methods_compared(const Question& question) {
  const Json* given = question.fields.find("methods");
  if (given == nullptr) return all_methods();
  std::vector<Method> methods;
  for (const Json& name : given->as_array("methods")) {
    Method method = method_named(name.as_string("methods"));
    if (std::ranges::count(methods, method.name, &Method::name) == 0) {
      methods.push_back(std::move(method));
    }
  }
  return methods;
}

Method method_asked(const Question& question, const ModelFacts& facts) {
  if (const auto name = question.word("method")) return method_named(*name);
  // An embedding is nearest to itself whatever the input, so that its similarity has no gradient.
  const bool alone = !question.word("against") && !question.word("class");
  return method_named(embeds(facts) && alone ? "rollout" : "relevancy");
}

Method method_asked(const Question& question, const Run& run) {
  if (const auto name = question.word("method")) return method_named(*name);
  const bool stacks = std::ranges::any_of(
      run.records, [](const auto& record) { return is_self_attention(record->site.kind); });
  return method_named(stacks ? "rollout" : "raw");
}

GivenParameters parameters_asked(const Question& question, const Method& method) {
  GivenParameters given;
  for (const Method& any : all_methods()) {
    for (const MethodParameter& parameter : any.parameters) {
      const Json* value = question.fields.find(field_of_parameter(parameter.name));
      if (value == nullptr) continue;
      given[parameter.name] = value->is_string()
                                  ? value->as_string("a parameter")
                                  : fmt::format("{}", value->as_double("a parameter"));
    }
  }
  check_parameters(method, given);
  return given;
}

Question asked_of_method(const Question& question, const Method& method) {
  Question asked = question;
  asked.kind = "explain";
  asked.fields = Json::object();
  const std::vector<FieldInfo> parameters = parameter_fields();
  for (const auto& [name, value] : question.fields.as_object("a question")) {
    const bool of_others = find_field(parameters, name) != nullptr && !has_parameter(method, name);
    if (!of_others && name != "methods") asked.fields.set(name, value);
  }
  asked.fields.set("method", method.name);
  asked.fields.set("check", true);
  return asked;
}

void check_known_parameters(const Question& question, std::span<const Method> methods) {
  const std::vector<FieldInfo> parameters = parameter_fields();
  for (const auto& [name, value] : question.fields.as_object("a question")) {
    const auto has = [&](const Method& method) { return has_parameter(method, name); };
    if (find_field(parameters, name) == nullptr || std::ranges::any_of(methods, has)) continue;
    std::vector<Method> able = all_methods();
    std::erase_if(able, [&](const Method& method) { return !has(method); });
    fail(ErrorKind::kInvalidArgument, Field{name},
         "it is of {} but {} {} compared; leave it out, or add {}",
         fmt::join(method_names(able), " and "), fmt::join(method_names(methods), ", "),
         methods.size() == 1 ? "is" : "are", able.front().name);
  }
}

bool embeds(const ModelFacts& facts) {
  return facts.head == HeadKind::kNone || facts.head == HeadKind::kSimilarity;
}

bool cuts_edges(const GivenParameters& parameters) {
  const auto unit = parameters.find("unit");
  return unit != parameters.end() && unit->second == "edge";
}

}  // namespace fovea
