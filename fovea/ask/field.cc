#include "fovea/ask/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

// For accessors of values whose type is known: their errors cannot come.
constexpr std::string_view kOfField = "a field";

bool is_number(FieldType type) {
  return type == FieldType::kInteger || type == FieldType::kReal;
}

// "a whole number from 0, or mean, max, all".
std::string expected_one(const FieldInfo& field) {
  std::string text;
  if (field.type == FieldType::kFlag) text = "true or false";
  if (field.type == FieldType::kText) text = "a text";
  if (field.type == FieldType::kInteger) text = "a whole number";
  if (field.type == FieldType::kReal) text = "a finite number";
  if (field.type == FieldType::kPixel) text = "a column and a row, X,Y";
  if (field.type == FieldType::kPixel && field.several) text += ", or several, X,Y:X,Y";
  if (field.type == FieldType::kSize) text = "a width and a height from 1 to 16384, WxH";
  if (field.type == FieldType::kRange) text = "a range A:B with 0 <= A < B, or A: or :B";
  if (is_number(field.type) && std::isfinite(field.low)) {
    text += fmt::format(" {} {}", field.low_excluded ? "above" : "from", field.low);
  }
  if (std::isfinite(field.high)) {
    text += fmt::format(" {} {}", field.low_excluded ? "and up to" : "to", field.high);
  }
  if (field.words.empty()) return text;
  const std::string words = fmt::format("{}", fmt::join(field.words, ", "));
  if (!text.empty()) return text + ", or " + words;
  return field.words.size() == 1 ? words : "one of " + words;
}

std::string expected(const FieldInfo& field) {
  return expected_one(field) + (field.or_list ? ", or several, N,N" : "");
}

[[noreturn]] void fail_value(const FieldInfo& field, const std::string& shown,
                             const std::string& word = "") {
  std::vector<std::string> words = field.words;
  for (const auto& [alias, meant] : field.aliases) words.push_back(alias);
  // Where there is one word, its help says what to ask instead.
  const std::string why = field.type == FieldType::kChoice && field.words.size() == 1
                              ? ": " + field.help
                              : did_you_mean(word, words);
  fail(ErrorKind::kInvalidArgument, Field{field.name}, "{} is not {}{}", shown, expected(field),
       why);
}

// The word that it is or means; empty if it is none.
std::string word_meant(const FieldInfo& field, const std::string& word) {
  const auto alias = field.aliases.find(word);
  if (alias != field.aliases.end()) return alias->second;
  return std::ranges::count(field.words, word) > 0 ? word : "";
}

// A list of different whole numbers; of one number that number alone.
Json checked_list(const FieldInfo& field, const Json& value) {
  Json::Array numbers;
  if (value.is_array()) {
    numbers = value.as_array(kOfField);
  } else {
    const std::string& text = value.as_string(kOfField);
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const auto number = parse_number<int64_t>(std::string_view(text).substr(begin, end - begin));
      if (!number) fail_value(field, "'" + text + "'");
      numbers.emplace_back(*number);
      begin = end + 1;
    }
  }
  if (numbers.empty()) fail_value(field, value.dump());
  std::set<int64_t> known;
  for (const Json& one : numbers) {
    if (!one.is_int() || one.as_int(kOfField) < 0) fail_value(field, value.dump());
    if (known.insert(one.as_int(kOfField)).second) continue;
    fail(ErrorKind::kInvalidArgument, Field{field.name}, "{} is given twice; leave one out",
         one.dump());
  }
  return Json(std::move(numbers));
}

constexpr int64_t kLongestSide = 16384;  // of a size

bool is_pair(FieldType type) {
  return type == FieldType::kPixel || type == FieldType::kSize;
}

bool fits_pair(FieldType type, int64_t first, int64_t second) {
  const auto is_side = [](int64_t side) { return side >= 1 && side <= kLongestSide; };
  return type == FieldType::kPixel || (is_side(first) && is_side(second));
}

// Two numbers, or a list with one such pair. `shown` is what was given, for errors.
Json checked_pair(const FieldInfo& field, const Json& value, const std::string& shown) {
  const Json::Array* pair = value.is_array() ? &value.as_array(kOfField) : nullptr;
  if (pair != nullptr && !pair->empty() && pair->front().is_array()) {
    if (pair->size() == 1) return checked_pair(field, pair->front(), shown);
    fail(ErrorKind::kInvalidArgument, Field{field.name}, "{} are given but one is taken",
         pair->size());
  }
  if (pair == nullptr || pair->size() != 2 ||
      !std::ranges::all_of(*pair, [](const Json& one) { return one.is_int(); }) ||
      !fits_pair(field.type, (*pair)[0].as_int(kOfField), (*pair)[1].as_int(kOfField))) {
    fail_value(field, shown);
  }
  return value;
}

// What stands between the two as they are typed.
char between(FieldType type) {
  return type == FieldType::kSize ? 'x' : ',';
}

Json checked_range(const FieldInfo& field, const Json& value) {
  std::string text, shown = value.dump();
  if (value.is_string()) {
    text = value.as_string(kOfField);
    shown = "'" + text + "'";
  } else {
    const bool two = value.is_array() && value.as_array(kOfField).size() == 2 &&
                     value.as_array(kOfField)[0].is_int() && value.as_array(kOfField)[1].is_int();
    if (!two) fail_value(field, shown);
    text = fmt::format("{}:{}", value.as_array(kOfField)[0].as_int(kOfField),
                       value.as_array(kOfField)[1].as_int(kOfField));
  }
  const size_t colon = text.find(':');
  if (colon == text.npos) fail_value(field, shown);
  const std::string_view ends[] = {std::string_view(text).substr(0, colon),
                                   std::string_view(text).substr(colon + 1)};
  std::optional<int64_t> numbers[2];
  for (size_t i = 0; i < 2; ++i) {
    numbers[i] = parse_number<int64_t>(ends[i]);
    if (!ends[i].empty() && numbers[i].value_or(-1) < 0) fail_value(field, shown);
  }
  if (numbers[0] && numbers[1] && *numbers[0] >= *numbers[1]) fail_value(field, shown);
  return text;
}

Json typed_pair(const FieldInfo& field, const std::string& text) {
  const size_t place = text.find(between(field.type));
  const auto first = parse_number<int64_t>(std::string_view(text).substr(0, place));
  const auto second = place == text.npos
                          ? std::nullopt
                          : parse_number<int64_t>(std::string_view(text).substr(place + 1));
  if (!first || !second) fail_value(field, "'" + text + "'");
  return checked_pair(field, Json(Json::Array{*first, *second}), "'" + text + "'");
}

std::string pair_text(const FieldInfo& field, const Json& value) {
  const Json::Array& pair = value.as_array(kOfField);
  return fmt::format("{}{}{}", pair[0].as_int(kOfField), between(field.type),
                     pair[1].as_int(kOfField));
}

Json checked_number(const FieldInfo& field, const Json& value) {
  const double number = value.as_double(kOfField);
  constexpr double kLargestWhole = 9e15;  // beyond it doubles have gaps
  const bool whole =
      value.is_int() || (number == std::floor(number) && std::abs(number) <= kLargestWhole);
  const bool low = field.low_excluded ? number <= field.low : number < field.low;
  if (!std::isfinite(number) || low || number > field.high ||
      (field.type == FieldType::kInteger && !whole)) {
    fail_value(field, value.dump());
  }
  if (field.type == FieldType::kReal) return number;
  return value.as_int(kOfField);
}

// Whether the rule speaks of such a value.
bool concerns(const FieldRule& rule, const Json& value) {
  if (!rule.at.empty()) return value.is_string() && value.as_string(kOfField) == rule.at;
  return !std::isfinite(rule.above) ||
         (value.is_number() && value.as_double(kOfField) > rule.above);
}

void check_rule(const FieldInfo& field, const FieldRule& rule, const Json& given) {
  if (!rule.excludes.empty() && given.find(rule.excludes) != nullptr) {
    fail(ErrorKind::kInvalidArgument, Field{field.name},
         "it {}, so it does not go with `{}`; leave one of them out", rule.why, rule.excludes);
  }
  if (const Json* beside = rule.beside.empty() ? nullptr : given.find(rule.beside)) {
    const std::string& word = beside->as_string(kOfField);
    if (std::ranges::count(rule.values, word) == 0) {
      fail(ErrorKind::kInvalidArgument, Field{field.name},
           "it {} but `{}` is {}; leave one of them out", rule.why, rule.beside, word);
    }
  }
  if (rule.needs.empty()) return;
  const Json* other = given.find(rule.needs);
  if (other == nullptr && rule.value.empty()) {
    fail(ErrorKind::kInvalidArgument, Field{field.name}, "it {}; give `{}` too", rule.why,
         rule.needs);
  }
  const bool same =
      other != nullptr &&
      (rule.value.empty() || (other->is_string() && other->as_string(kOfField) == rule.value));
  if (!same) {
    fail(ErrorKind::kInvalidArgument, Field{field.name}, "it {} but `{}` is {}; give `{}` {} too",
         rule.why, rule.needs, other == nullptr ? "left out" : other->dump(), rule.needs,
         rule.value);
  }
}

void set_bounds(Json& schema, const FieldInfo& field) {
  const auto bound = [&](const char* name, double value) {
    if (!is_number(field.type) || !std::isfinite(value)) return;
    const bool whole = field.type == FieldType::kInteger;
    schema.set(name, whole ? Json(static_cast<int64_t>(value)) : Json(value));
  };
  bound(field.low_excluded ? "exclusiveMinimum" : "minimum", field.low);
  bound("maximum", field.high);
}

Json or_list_schema(Json one) {
  Json number = Json::object({{"type", "integer"}, {"minimum", 0}});
  Json list = Json::object({{"type", "array"}, {"items", std::move(number)}, {"minItems", 1}});
  list.set("uniqueItems", true);
  Json typed = Json::object({{"type", "string"}, {"pattern", "^[0-9]+(,[0-9]+)+$"}});
  return Json::object({{"anyOf", Json(Json::Array{one, list, typed})}});
}

// The schema of one value.
Json one_schema(const FieldInfo& field) {
  Json schema = Json::object();
  const auto words = [&] {
    Json::Array all;
    for (const std::string& word : field.words) all.emplace_back(word);
    for (const auto& [alias, meant] : field.aliases) all.emplace_back(alias);
    return Json(std::move(all));
  };
  if (field.type == FieldType::kChoice) {
    schema.set("enum", words());
  } else if (field.type == FieldType::kRange) {
    Json number = Json::object({{"type", "integer"}, {"minimum", 0}});
    Json pair = Json::object({{"type", "array"}, {"items", number}});
    pair.set("minItems", 2);
    pair.set("maxItems", 2);
    Json text = Json::object({{"type", "string"}, {"pattern", "^[0-9]*:[0-9]*$"}});
    schema.set("anyOf", Json(Json::Array{std::move(text), std::move(pair)}));
  } else if (is_pair(field.type)) {
    Json number = Json::object({{"type", "integer"}});
    if (field.type == FieldType::kSize) {
      number = Json::object({{"type", "integer"}, {"minimum", 1}, {"maximum", kLongestSide}});
    }
    schema = Json::object({{"type", "array"}, {"items", number}, {"minItems", 2}, {"maxItems", 2}});
    if (!field.words.empty()) {
      const Json pair = schema;
      schema =
          Json::object({{"anyOf", Json(Json::Array{pair, Json::object({{"enum", words()}})})}});
    }
  } else {
    Json value = Json::object();
    value.set("type", field.type == FieldType::kFlag      ? "boolean"
                      : field.type == FieldType::kText    ? "string"
                      : field.type == FieldType::kInteger ? "integer"
                                                          : "number");
    set_bounds(value, field);
    if (field.type == FieldType::kText && !field.may_be_empty) value.set("minLength", 1);
    if (field.or_index) {
      value.set("type", Json(Json::Array{"string", "integer"}));
      value.set("minimum", 0);
    }
    if (field.words.empty()) {
      schema = std::move(value);
    } else {
      schema.set("anyOf", Json(Json::Array{value, Json::object({{"enum", words()}})}));
    }
  }
  return field.or_list ? or_list_schema(std::move(schema)) : schema;
}

Json value_schema(const FieldInfo& field) {
  Json schema = one_schema(field);
  if (field.several) {
    schema = Json::object({{"type", "array"}, {"items", std::move(schema)}, {"minItems", 1}});
    if (field.most > 0) schema.set("maxItems", field.most);
  }
  schema.set("description",
             field.models.empty() ? field.help : fmt::format("{} ({})", field.help, field.models));
  if (!field.otherwise.empty()) schema.set("x-otherwise", field.otherwise);
  return schema;
}

// {"if": the field is so, "then": what the rule wants}. A flag that is false is not given.
Json rule_schema(const FieldInfo& field, const FieldRule& rule, std::span<const FieldInfo> all) {
  const auto given = [](const FieldInfo& which, Json value) {
    if (which.type == FieldType::kFlag) value = Json::object({{"const", true}});
    return Json::object({{"required", Json(Json::Array{which.name})},
                         {"properties", Json::object({{which.name, value}})}});
  };
  Json when = Json::object();
  if (!rule.at.empty()) when.set("const", rule.at);
  if (std::isfinite(rule.above)) {
    when.set("type", "number");
    when.set("exclusiveMinimum", rule.above);
  }
  Json then = Json::object();
  const auto other = [&](const std::string& name) { return find_field(all, name); };
  if (const FieldInfo* excluded = other(rule.excludes)) {
    then.set("not", given(*excluded, Json::object()));
  }
  if (other(rule.beside) != nullptr) {
    then.set("properties",
             Json::object({{rule.beside, Json::object({{"enum", Json::array_of(rule.values)}})}}));
  }
  if (const FieldInfo* needed = other(rule.needs)) {
    then =
        given(*needed, rule.value.empty() ? Json::object() : Json::object({{"const", rule.value}}));
  }
  return Json::object({{"if", given(field, std::move(when))}, {"then", std::move(then)}});
}

}  // namespace

bool is_list(const Json& value) {
  return value.is_array() ||
         (value.is_string() && value.as_string(kOfField).find(',') != std::string::npos);
}

bool is_given(const Json& value) {
  return !value.is_null() && !(value.is_bool() && !value.as_bool(kOfField));
}

const FieldInfo* find_field(std::span<const FieldInfo> fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &FieldInfo::name);
  return found == fields.end() ? nullptr : &*found;
}

namespace {

Json typed_one(const FieldInfo& field, const std::string& text) {
  if (field.type == FieldType::kFlag) return true;
  if (field.or_list && is_list(text)) return checked_list(field, text);
  if (is_pair(field.type) && word_meant(field, text).empty()) return typed_pair(field, text);
  if (is_number(field.type) && word_meant(field, text).empty()) {
    const auto number = parse_number<double>(text);
    const auto whole = parse_number<int64_t>(text);
    if (!number || (field.type == FieldType::kInteger && !whole)) {
      fail_value(field, "'" + text + "'", text);
    }
    return checked_number(field, field.type == FieldType::kInteger ? Json(*whole) : Json(*number));
  }
  FieldInfo one = field;
  one.several = false;
  return checked_value(one, text);
}

}  // namespace

Json typed_value(const FieldInfo& field, const std::vector<std::string>& texts) {
  if (!field.several) return typed_one(field, texts.front());
  Json::Array all;
  for (const std::string& text : texts) {
    if (field.type != FieldType::kPixel) {
      all.push_back(typed_one(field, text));
      continue;
    }
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(':', begin), text.size());
      all.push_back(typed_one(field, text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  return all;
}

std::vector<std::string> typed_texts(const FieldInfo& field, const Json& value) {
  if (field.type == FieldType::kFlag) return {};
  const auto text_of = [&](const Json& one) {
    if (is_pair(field.type) && !one.is_string()) return pair_text(field, one);
    if (one.is_array()) {
      std::vector<std::string> numbers;
      for (const Json& number : one.as_array(kOfField)) numbers.push_back(number.dump());
      return fmt::format("{}", fmt::join(numbers, field.type == FieldType::kRange ? ":" : ","));
    }
    if (one.is_string()) return one.as_string(kOfField);
    return (field.or_index ? "#" : "") + one.dump();
  };
  if (!field.several) return {text_of(value)};
  std::vector<std::string> texts;
  for (const Json& one : value.as_array(kOfField)) texts.push_back(text_of(one));
  if (field.type != FieldType::kPixel) return texts;
  return {fmt::format("{}", fmt::join(texts, ":"))};
}

Json checked_value(const FieldInfo& field, const Json& value) {
  if (field.several) {
    FieldInfo one = field;
    one.several = false;
    if (!value.is_array() || value.as_array(kOfField).empty()) {
      fail(ErrorKind::kInvalidArgument, Field{field.name}, "{} is not a list with {} in it",
           value.dump(), expected(one));
    }
    const auto count = static_cast<int64_t>(value.as_array(kOfField).size());
    if (field.most > 0 && count > field.most) {
      fail(ErrorKind::kInvalidArgument, Field{field.name}, "{} are given but {} at most are taken",
           count, field.most);
    }
    Json::Array all;
    for (const Json& each : value.as_array(kOfField)) all.push_back(checked_value(one, each));
    return all;
  }
  if (field.type == FieldType::kFlag) {
    if (!value.is_bool()) fail_value(field, value.dump());
    return value;
  }
  if (field.or_list && is_list(value)) {
    const Json list = checked_list(field, value);
    const Json::Array& numbers = list.as_array(kOfField);
    return numbers.size() == 1 ? checked_value(field, numbers.front()) : list;
  }
  if (is_pair(field.type) && !(value.is_string() && !field.words.empty())) {
    return checked_pair(field, value, value.dump());
  }
  if (field.type == FieldType::kRange) return checked_range(field, value);
  if (is_number(field.type) && value.is_number()) return checked_number(field, value);
  if (field.or_index && value.is_int() && value.as_int(kOfField) >= 0) {
    return fmt::format("#{}", value.as_int(kOfField));
  }
  if (!value.is_string()) fail_value(field, value.dump());
  const std::string& text = value.as_string(kOfField);
  if (field.type == FieldType::kText && field.words.empty()) {
    if (text.empty() && !field.may_be_empty) {
      fail(ErrorKind::kInvalidArgument, Field{field.name}, "it is empty; give it a value");
    }
    return value;
  }
  const std::string word = word_meant(field, text);
  if (word.empty()) fail_value(field, "'" + text + "'", text);
  return word;
}

Json checked_fields(std::span<const FieldInfo> fields, const Json& given, std::string_view what) {
  if (!given.is_object()) {
    fail(ErrorKind::kInvalidArgument, "{} is an object of named values but this is {}", what,
         given.type_name());
  }
  Json checked = Json::object();
  for (const auto& [name, value] : given.as_object(kOfField)) {
    const FieldInfo* field = find_field(fields, name);
    if (field == nullptr) {
      std::vector<std::string> names;
      for (const FieldInfo& each : fields) names.push_back(each.name);
      fail(ErrorKind::kInvalidArgument, Field{name}, "{} does not take it{}; it takes {}", what,
           did_you_mean(name, names), fmt::join(names, ", "));
    }
    if (is_given(value)) checked.set(name, checked_value(*field, value));
  }
  for (const FieldInfo& field : fields) {
    const Json* value = checked.find(field.name);
    for (const FieldRule& rule : field.rules) {
      if (value != nullptr && concerns(rule, *value)) check_rule(field, rule, checked);
    }
  }
  for (const FieldInfo& field : fields) {
    if (!field.required || checked.find(field.name) != nullptr) continue;
    fail(ErrorKind::kInvalidArgument, Field{field.name}, "{} needs it: {}", what, field.help);
  }
  return checked;
}

Json schema_of(std::span<const FieldInfo> fields) {
  Json properties = Json::object();
  Json::Array rules, required;
  for (const FieldInfo& field : fields) {
    if (field.required) required.emplace_back(field.name);
    properties.set(field.name, value_schema(field));
    for (const FieldRule& rule : field.rules) rules.push_back(rule_schema(field, rule, fields));
  }
  Json schema = Json::object(
      {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}});
  if (!required.empty()) schema.set("required", Json(std::move(required)));
  if (!rules.empty()) schema.set("allOf", Json(std::move(rules)));
  return schema;
}

}  // namespace fovea
