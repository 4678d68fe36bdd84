// Filters, tests and methods, each by its name.
#include "fovea/text/jinja/builtins.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/base/error.h"
#include "fovea/text/jinja/text_methods.h"

namespace fovea::jinja {
namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view name) {
  fail(ErrorKind::kUnsupported, "the {} '{}' is not known to fovea", what, name);
}

std::string text_in(const Given& given, size_t place, std::string_view name,
                    std::string_view otherwise) {
  const Value* value = given.find(place, name);
  return value == nullptr ? std::string(otherwise) : printed(*value);
}
int64_t number_in(const Given& given, size_t place, std::string_view name, int64_t otherwise) {
  const Value* value = given.find(place, name);
  if (value == nullptr || value->is_none()) return otherwise;
  if (!value->is_int() && !value->is_bool()) {
    fail(ErrorKind::kUnsupported, "{} is {} and no whole number", name, value->type_name());
  }
  return value->integer();
}
bool flag_in(const Given& given, size_t place, std::string_view name) {
  const Value* value = given.find(place, name);
  return value != nullptr && value->truth();
}
const Value& needed(const Given& given, size_t place, std::string_view name) {
  const Value* value = given.find(place, name);
  if (value == nullptr) fail(ErrorKind::kUnsupported, "an argument '{}' is missing", name);
  return *value;
}

Value list_of(std::vector<Value> items) {
  return List{.items = std::move(items)};
}
Value texts_of(const std::vector<std::string>& texts) {
  std::vector<Value> items(texts.begin(), texts.end());
  return list_of(std::move(items));
}
Value pairs_of(const Value& value) {
  std::vector<Value> pairs;
  if (value.is_undefined()) return list_of({});
  if (value.dict() == nullptr) {
    fail(ErrorKind::kUnsupported, "{} has no keys with values", value.type_name());
  }
  for (const auto& [key, item] : value.dict()->items) {
    pairs.emplace_back(List{.items = {Value(key), item}, .tuple = true});
  }
  return list_of(std::move(pairs));
}

// a.b.0 as the filters name a part.
Value part_of(Value value, std::string_view path) {
  while (!path.empty()) {
    const std::string_view step = path.substr(0, path.find('.'));
    const bool number = step.find_first_not_of("0123456789") == step.npos && step.size() < 10;
    value = number ? item_of(value, Value(static_cast<int64_t>(std::stoll(std::string(step)))))
                   : part_named(value, step);
    path.remove_prefix(std::min(path.size(), step.size() + 1));
  }
  return value;
}

// select, reject, selectattr, rejectattr.
Value chosen(const Value& value, const Given& given, bool by_attribute, bool keep) {
  const size_t first = by_attribute ? 1 : 0;
  const std::string path = by_attribute ? printed(needed(given, 0, "attribute")) : "";
  Given rest;
  for (size_t i = first + 1; i < given.plain.size(); ++i) rest.plain.push_back(given.plain[i]);
  std::vector<Value> items;
  for (const Value& item : items_of(value)) {
    const Value part = part_of(item, path);
    const bool holds =
        given.plain.size() > first ? tested(printed(given.plain[first]), part, rest) : part.truth();
    if (holds == keep) items.push_back(item);
  }
  return list_of(std::move(items));
}

Value mapped(const Value& value, const Given& given, Work& work) {
  const Value* attribute = given.find(size_t(-1), "attribute");
  std::vector<Value> items;
  for (const Value& item : items_of(value)) {
    if (attribute != nullptr) {
      const Value part = part_of(item, printed(*attribute));
      const Value* otherwise = given.find(size_t(-1), "default");
      items.push_back(part.is_undefined() && otherwise != nullptr ? *otherwise : part);
    } else {
      Given rest{.plain = {given.plain.begin() + (given.plain.empty() ? 0 : 1), given.plain.end()},
                 .named = given.named};
      items.push_back(filtered(printed(needed(given, 0, "filter")), item, rest, work));
    }
  }
  return list_of(std::move(items));
}

// How sort, unique, min and max compare: texts without their case, unless told.
Value sort_key(const Value& item, const Given& given, size_t case_place) {
  const Value* attribute = given.find(size_t(-1), "attribute");
  const Value key = attribute == nullptr ? item : part_of(item, printed(*attribute));
  const bool by_case = flag_in(given, case_place, "case_sensitive");
  return key.text() != nullptr && !by_case ? Value(in_lower_case(*key.text())) : key;
}

Value sorted(const Value& value, const Given& given) {
  std::vector<std::pair<Value, Value>> items;
  for (const Value& item : items_of(value)) items.emplace_back(sort_key(item, given, 1), item);
  const bool reverse = flag_in(given, 0, "reverse");
  std::ranges::stable_sort(items, [&](const auto& a, const auto& b) {
    return reverse ? less(b.first, a.first) : less(a.first, b.first);
  });
  std::vector<Value> result;
  for (auto& [key, item] : items) result.push_back(std::move(item));
  return list_of(std::move(result));
}

Value extreme(const Value& value, const Given& given, bool largest) {
  Value best = Value::undefined("of nothing"), best_key;
  for (const Value& item : items_of(value)) {
    const Value key = sort_key(item, given, 0);
    if (best.is_undefined() || (largest ? less(best_key, key) : less(key, best_key))) {
      best = item;
      best_key = key;
    }
  }
  return best;
}

Value unique(const Value& value, const Given& given) {
  std::vector<Value> items, keys;
  for (const Value& item : items_of(value)) {
    Value key = sort_key(item, given, 0);
    if (std::ranges::any_of(keys, [&](const Value& known) { return equal(known, key); })) continue;
    keys.push_back(std::move(key));
    items.push_back(item);
  }
  return list_of(std::move(items));
}

Value joined(const Value& value, const Given& given, Work& work) {
  const std::string between = text_in(given, 0, "d", "");
  const Value* attribute = given.find(1, "attribute");
  std::string text;
  bool first = true;
  for (const Value& item : items_of(value)) {
    if (!std::exchange(first, false)) text += between;
    text += printed(attribute == nullptr ? item : part_of(item, printed(*attribute)));
    work.spend(between.size());
  }
  return text;
}

Value indented(const Value& value, const Given& given) {
  const Value* width = given.find(0, "width");
  const std::string margin =
      width != nullptr && width->text() != nullptr
          ? *width->text()
          : std::string(
                static_cast<size_t>(std::clamp<int64_t>(number_in(given, 0, "width", 4), 0, 1000)),
                ' ');
  const bool first = flag_in(given, 1, "first"), blank = flag_in(given, 2, "blank");
  const std::string text = printed(value);
  std::string result = first ? margin : "";
  for (size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    const bool empty_line = i + 1 >= text.size() || text[i + 1] == '\n';
    if (text[i] == '\n' && (blank || !empty_line)) result += margin;
  }
  return result;
}

Value to_json(const Value& value, const Given& given) {
  JsonLayout layout{.ascii_only = flag_in(given, 0, "ensure_ascii"),
                    .indent = number_in(given, 1, "indent", -1)};
  if (layout.indent > 100) fail(ErrorKind::kUnsupported, "indent is {}", layout.indent);
  if (layout.indent >= 0) layout.between = ",";
  if (const Value* signs = given.find(2, "separators"); signs != nullptr && !signs->is_none()) {
    const std::vector<Value> two = items_of(*signs);
    if (two.size() != 2) fail(ErrorKind::kUnsupported, "separators are two texts");
    layout.between = printed(two[0]);
    layout.after_key = printed(two[1]);
  }
  layout.sorted = flag_in(given, 3, "sort_keys");
  return json_text(value, layout);
}

Value to_int(const Value& value, const Given& given) {
  if (value.is_int() || value.is_bool()) return value.integer();
  if (value.is_real() && std::abs(value.real()) < 9e18) {
    return static_cast<int64_t>(value.real());
  }
  if (value.text() != nullptr) {
    const std::string text = stripped(*value.text(), "", true, true);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool decimal = text.find_first_not_of("+-.0123456789eE_") == text.npos;
    if (!text.empty() && decimal && *end == '\0' && std::abs(number) < 9e15) {
      return static_cast<int64_t>(number);
    }
  }
  return number_in(given, 0, "default", 0);
}

Value to_float(const Value& value, const Given& given) {
  if (value.is_number()) return value.real();
  if (value.text() != nullptr) {
    const std::string text = stripped(*value.text(), "", true, true);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0' && text.find_first_of("xXpP") == text.npos) return number;
  }
  const Value* otherwise = given.find(0, "default");
  return otherwise == nullptr ? Value(0.0) : *otherwise;
}

Value rounded(const Value& value, const Given& given) {
  if (!value.is_number()) fail(ErrorKind::kUnsupported, "{} is rounded", value.type_name());
  const std::string method = text_in(given, 1, "method", "common");
  const double by = std::pow(10.0, static_cast<double>(number_in(given, 0, "precision", 0)));
  const double scaled = value.real() * by;
  if (method == "ceil") return std::ceil(scaled) / by;
  if (method == "floor") return std::floor(scaled) / by;
  if (method != "common") refuse("rounding", method);
  return std::nearbyint(scaled) / by;  // halves to even, as Python
}

Value negative_is_kept(const Value& value) {
  if (value.is_real()) return std::abs(value.real());
  if (!value.is_number()) fail(ErrorKind::kUnsupported, "abs of {}", value.type_name());
  if (value.integer() == INT64_MIN) fail(ErrorKind::kUnsupported, "a number is too large");
  return std::abs(value.integer());
}

Value reversed(const Value& value) {
  std::vector<Value> items = items_of(value);
  std::ranges::reverse(items);
  if (value.text() == nullptr) return list_of(std::move(items));
  std::string text;
  for (const Value& item : items) text += *item.text();
  return text;
}

Value end_item(const Value& value, bool last) {
  const std::vector<Value> items = items_of(value);
  if (items.empty()) return Value::undefined(last ? "the last item" : "the first item");
  return last ? items.back() : items.front();
}

Value by_default(const Value& value, const Given& given) {
  const bool taken = value.is_undefined() || (flag_in(given, 1, "boolean") && !value.truth());
  if (!taken) return value;
  const Value* otherwise = given.find(0, "default_value");
  return otherwise == nullptr ? Value("") : *otherwise;
}

Value summed(const Value& value, const Given& given) {
  const Value* attribute = given.find(0, "attribute");
  double total = 0;
  bool whole = true;
  for (const Value& item : items_of(value)) {
    const Value part = attribute == nullptr ? item : part_of(item, printed(*attribute));
    if (!part.is_number()) fail(ErrorKind::kUnsupported, "{} is summed", part.type_name());
    whole = whole && !part.is_real();
    total += part.real();
  }
  if (whole && std::abs(total) < 9e15) return static_cast<int64_t>(total);
  return total;
}

Value dict_sorted(const Value& value, const Given& given) {
  if (given.find(1, "by") != nullptr) refuse("argument of dictsort", "by");
  std::vector<Value> pairs = items_of(pairs_of(value));
  const bool by_case = flag_in(given, 0, "case_sensitive"), reverse = flag_in(given, 2, "reverse");
  const auto key = [&](const Value& pair) {
    const std::string name = printed(pair.list()->items.front());
    return by_case ? name : in_lower_case(name);
  };
  std::ranges::stable_sort(pairs, [&](const Value& a, const Value& b) {
    return reverse ? key(b) < key(a) : key(a) < key(b);
  });
  return list_of(std::move(pairs));
}

using Filter = Value (*)(const Value&, const Given&, Work&);

const std::map<std::string_view, Filter>& filters() {
  static const std::map<std::string_view, Filter> all{
      {"abs", [](const Value& v, const Given&, Work&) { return negative_is_kept(v); }},
      {"capitalize",
       [](const Value& v, const Given&, Work&) -> Value { return capitalized(printed(v)); }},
      {"count", [](const Value& v, const Given&, Work&) -> Value { return length_of(v); }},
      {"d", [](const Value& v, const Given& g, Work&) { return by_default(v, g); }},
      {"default", [](const Value& v, const Given& g, Work&) { return by_default(v, g); }},
      {"dictsort", [](const Value& v, const Given& g, Work&) { return dict_sorted(v, g); }},
      {"first", [](const Value& v, const Given&, Work&) { return end_item(v, false); }},
      {"float", [](const Value& v, const Given& g, Work&) { return to_float(v, g); }},
      {"indent", [](const Value& v, const Given& g, Work&) { return indented(v, g); }},
      {"int", [](const Value& v, const Given& g, Work&) { return to_int(v, g); }},
      {"items", [](const Value& v, const Given&, Work&) { return pairs_of(v); }},
      {"join", joined},
      {"last", [](const Value& v, const Given&, Work&) { return end_item(v, true); }},
      {"length", [](const Value& v, const Given&, Work&) -> Value { return length_of(v); }},
      {"list", [](const Value& v, const Given&, Work&) { return list_of(items_of(v)); }},
      {"lower",
       [](const Value& v, const Given&, Work&) -> Value { return in_lower_case(printed(v)); }},
      {"map", mapped},
      {"max", [](const Value& v, const Given& g, Work&) { return extreme(v, g, true); }},
      {"min", [](const Value& v, const Given& g, Work&) { return extreme(v, g, false); }},
      {"reject", [](const Value& v, const Given& g, Work&) { return chosen(v, g, false, false); }},
      {"rejectattr",
       [](const Value& v, const Given& g, Work&) { return chosen(v, g, true, false); }},
      {"replace",
       [](const Value& v, const Given& g, Work&) -> Value {
         return with_replaced(printed(v), printed(needed(g, 0, "old")),
                              printed(needed(g, 1, "new")), number_in(g, 2, "count", -1));
       }},
      {"reverse", [](const Value& v, const Given&, Work&) { return reversed(v); }},
      {"round", [](const Value& v, const Given& g, Work&) { return rounded(v, g); }},
      {"safe", [](const Value& v, const Given&, Work&) -> Value { return printed(v); }},
      {"select", [](const Value& v, const Given& g, Work&) { return chosen(v, g, false, true); }},
      {"selectattr",
       [](const Value& v, const Given& g, Work&) { return chosen(v, g, true, true); }},
      {"sort", [](const Value& v, const Given& g, Work&) { return sorted(v, g); }},
      {"string", [](const Value& v, const Given&, Work&) -> Value { return printed(v); }},
      {"sum", [](const Value& v, const Given& g, Work&) { return summed(v, g); }},
      {"title", [](const Value& v, const Given&, Work&) -> Value { return titled(printed(v)); }},
      {"tojson", [](const Value& v, const Given& g, Work&) { return to_json(v, g); }},
      {"trim",
       [](const Value& v, const Given& g, Work&) -> Value {
         return stripped(printed(v), text_in(g, 0, "chars", ""), true, true);
       }},
      {"unique", [](const Value& v, const Given& g, Work&) { return unique(v, g); }},
      {"upper",
       [](const Value& v, const Given&, Work&) -> Value { return in_upper_case(printed(v)); }}};
  return all;
}

using Test = bool (*)(const Value&, const Given&);

int64_t whole_of(const Value& value) {
  if (!value.is_int()) fail(ErrorKind::kUnsupported, "{} is no whole number", value.type_name());
  return value.integer();
}

const std::map<std::string_view, Test>& tests() {
  constexpr Test kEqual = [](const Value& v, const Given& g) {
    return equal(v, needed(g, 0, "other"));
  };
  constexpr Test kDiffers = [](const Value& v, const Given& g) {
    return !equal(v, needed(g, 0, "other"));
  };
  constexpr Test kLess = [](const Value& v, const Given& g) {
    return less(v, needed(g, 0, "other"));
  };
  constexpr Test kMore = [](const Value& v, const Given& g) {
    return less(needed(g, 0, "other"), v);
  };
  constexpr Test kLeast = [](const Value& v, const Given& g) {
    return !less(v, needed(g, 0, "other"));
  };
  constexpr Test kMost = [](const Value& v, const Given& g) {
    return !less(needed(g, 0, "other"), v);
  };
  static const std::map<std::string_view, Test> all{
      {"boolean", [](const Value& v, const Given&) { return v.is_bool(); }},
      {"callable", [](const Value& v, const Given&) { return v.is_callable(); }},
      {"defined", [](const Value& v, const Given&) { return !v.is_undefined(); }},
      {"divisibleby",
       [](const Value& v, const Given& g) {
         const int64_t by = whole_of(needed(g, 0, "num"));
         if (by == 0) fail(ErrorKind::kUnsupported, "a number is divided by 0");
         return by == -1 || whole_of(v) % by == 0;
       }},
      {"==", kEqual},
      {"eq", kEqual},
      {"equalto", kEqual},
      {"!=", kDiffers},
      {"ne", kDiffers},
      {"<", kLess},
      {"lt", kLess},
      {"lessthan", kLess},
      {">", kMore},
      {"gt", kMore},
      {"greaterthan", kMore},
      {">=", kLeast},
      {"ge", kLeast},
      {"<=", kMost},
      {"le", kMost},
      {"even", [](const Value& v, const Given&) { return whole_of(v) % 2 == 0; }},
      {"false", [](const Value& v, const Given&) { return v.is_bool() && !v.truth(); }},
      {"float", [](const Value& v, const Given&) { return v.is_real(); }},
      {"in", [](const Value& v, const Given& g) { return contains(needed(g, 0, "seq"), v); }},
      {"integer", [](const Value& v, const Given&) { return v.is_int(); }},
      {"iterable",
       [](const Value& v, const Given&) {
         return v.is_undefined() || v.text() != nullptr || v.list() != nullptr ||
                v.dict() != nullptr;
       }},
      {"lower",
       [](const Value& v, const Given&) { return printed(v) == in_lower_case(printed(v)); }},
      {"mapping", [](const Value& v, const Given&) { return v.dict() != nullptr; }},
      {"none", [](const Value& v, const Given&) { return v.is_none(); }},
      {"number", [](const Value& v, const Given&) { return v.is_number(); }},
      {"odd", [](const Value& v, const Given&) { return whole_of(v) % 2 != 0; }},
      {"sequence",
       [](const Value& v, const Given&) {
         return v.text() != nullptr || v.list() != nullptr || v.dict() != nullptr;
       }},
      {"string", [](const Value& v, const Given&) { return v.text() != nullptr; }},
      {"true", [](const Value& v, const Given&) { return v.is_bool() && v.truth(); }},
      {"undefined", [](const Value& v, const Given&) { return v.is_undefined(); }},
      {"upper",
       [](const Value& v, const Given&) { return printed(v) == in_upper_case(printed(v)); }}};
  return all;
}

using Method = Value (*)(const std::string&, const Given&);

bool ends_or_begins(const std::string& text, const Given& given, bool begins) {
  const Value& with = needed(given, 0, "prefix");
  if (given.plain.size() > 1) refuse("argument of", begins ? "startswith" : "endswith");
  const std::vector<Value> any = with.list() == nullptr ? std::vector{with} : with.list()->items;
  return std::ranges::any_of(any, [&](const Value& each) {
    if (each.text() == nullptr) {
      fail(ErrorKind::kUnsupported, "a text is asked whether it begins with {}", each.type_name());
    }
    return begins ? text.starts_with(*each.text()) : text.ends_with(*each.text());
  });
}

// The place of the first or last character of what is looked for, counted in characters.
Value place_in(const std::string& text, const Given& given, bool last) {
  if (given.plain.size() != 1) refuse("argument of", "find");
  const std::string wanted = printed(given.plain[0]);
  const size_t found = last ? text.rfind(wanted) : text.find(wanted);
  if (found == text.npos) return int64_t{-1};
  return length_of(Value(text.substr(0, found)));
}

Value counted(const std::string& text, const Given& given) {
  const std::string wanted = printed(needed(given, 0, "sub"));
  if (wanted.empty()) return length_of(Value(text)) + 1;
  int64_t count = 0;
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size())) {
    ++count;
  }
  return count;
}

Value split_text(const std::string& text, const Given& given, bool from_right) {
  const Value* separator = given.find(0, "sep");
  const bool none = separator == nullptr || separator->is_none();
  if (!none && separator->text() == nullptr) {
    fail(ErrorKind::kUnsupported, "a text is split at {}", separator->type_name());
  }
  return texts_of(split(text, none ? nullptr : separator->text(),
                        number_in(given, 1, "maxsplit", -1), from_right));
}

Value lines_in(const std::string& text) {
  std::vector<std::string> lines;
  const std::string newline = "\n";
  lines = split(text, &newline, -1, false);
  if (lines.back().empty()) lines.pop_back();
  return texts_of(lines);
}

Value without(const std::string& text, const Given& given, bool left, bool right) {
  const Value* drop = given.find(0, "chars");
  return stripped(text, drop == nullptr || drop->is_none() ? "" : printed(*drop), left, right);
}

const std::map<std::string_view, Method>& text_methods() {
  static const std::map<std::string_view, Method> all{
      {"capitalize", [](const std::string& t, const Given&) -> Value { return capitalized(t); }},
      {"count", counted},
      {"endswith",
       [](const std::string& t, const Given& g) -> Value { return ends_or_begins(t, g, false); }},
      {"find", [](const std::string& t, const Given& g) { return place_in(t, g, false); }},
      {"join",
       [](const std::string& t, const Given& g) -> Value {
         std::string text;
         bool first = true;
         for (const Value& item : items_of(needed(g, 0, "iterable"))) {
           if (!std::exchange(first, false)) text += t;
           if (item.text() == nullptr)
             fail(ErrorKind::kUnsupported, "{} is joined to texts", item.type_name());
           text += *item.text();
         }
         return text;
       }},
      {"lower", [](const std::string& t, const Given&) -> Value { return in_lower_case(t); }},
      {"lstrip", [](const std::string& t, const Given& g) { return without(t, g, true, false); }},
      {"removeprefix",
       [](const std::string& t, const Given& g) -> Value {
         const std::string prefix = printed(needed(g, 0, "prefix"));
         return t.starts_with(prefix) ? t.substr(prefix.size()) : t;
       }},
      {"removesuffix",
       [](const std::string& t, const Given& g) -> Value {
         const std::string suffix = printed(needed(g, 0, "suffix"));
         return t.ends_with(suffix) ? t.substr(0, t.size() - suffix.size()) : t;
       }},
      {"replace",
       [](const std::string& t, const Given& g) -> Value {
         return with_replaced(t, printed(needed(g, 0, "old")), printed(needed(g, 1, "new")),
                              number_in(g, 2, "count", -1));
       }},
      {"rfind", [](const std::string& t, const Given& g) { return place_in(t, g, true); }},
      {"rsplit", [](const std::string& t, const Given& g) { return split_text(t, g, true); }},
      {"rstrip", [](const std::string& t, const Given& g) { return without(t, g, false, true); }},
      {"split", [](const std::string& t, const Given& g) { return split_text(t, g, false); }},
      {"splitlines", [](const std::string& t, const Given&) { return lines_in(t); }},
      {"startswith",
       [](const std::string& t, const Given& g) -> Value { return ends_or_begins(t, g, true); }},
      {"strip", [](const std::string& t, const Given& g) { return without(t, g, true, true); }},
      {"title", [](const std::string& t, const Given&) -> Value { return titled(t); }},
      {"upper", [](const std::string& t, const Given&) -> Value { return in_upper_case(t); }}};
  return all;
}

bool is_dict_method(std::string_view name) {
  return name == "get" || name == "items" || name == "keys" || name == "values";
}

Value dict_method(const Value& of, std::string_view name, const Given& given) {
  if (name == "items") return pairs_of(of);
  if (name == "keys") return list_of(items_of(of));
  if (name == "values") {
    std::vector<Value> values;
    for (const auto& [key, value] : of.dict()->items) values.push_back(value);
    return list_of(std::move(values));
  }
  const Value& key = needed(given, 0, "key");
  const Value* found = key.text() == nullptr ? nullptr : of.dict()->find(*key.text());
  if (found != nullptr) return *found;
  const Value* otherwise = given.find(1, "default");
  return otherwise == nullptr ? Value() : *otherwise;
}

// loop.cycle("odd", "even") gives one after the other.
Value cycled(const Value& loop, const Given& given) {
  if (given.plain.empty()) fail(ErrorKind::kUnsupported, "loop.cycle() is given nothing");
  const int64_t index = part_named(loop, "index0").integer();
  return given.plain[static_cast<size_t>(index) % given.plain.size()];
}

size_t size_of(const Value& value) {
  if (const std::string* text = value.text()) return text->size();
  if (value.list() != nullptr || value.dict() != nullptr) {
    return static_cast<size_t>(length_of(value)) * 8;
  }
  return 0;
}

}  // namespace

Value filtered(std::string_view name, const Value& value, const Given& given, Work& work) {
  const auto found = filters().find(name);
  if (found == filters().end()) refuse("filter", name);
  work.spend(size_of(value));
  Value result = found->second(value, given, work);
  work.spend(size_of(result));
  return result;
}

bool tested(std::string_view name, const Value& value, const Given& given) {
  const auto found = tests().find(name);
  if (found == tests().end()) refuse("test", name);
  return found->second(value, given);
}

bool has_method(const Value& of, std::string_view name) {
  if (of.text() != nullptr) return text_methods().contains(name);
  if (const Dict* dict = of.dict()) return dict->loop ? name == "cycle" : is_dict_method(name);
  return false;
}

Value method_result(const Value& of, std::string_view name, const Given& given, Work& work) {
  if (!has_method(of, name)) {
    fail(ErrorKind::kUnsupported, "'{}' of {} is no function that is known to fovea", name,
         of.type_name());
  }
  work.spend(size_of(of));
  Value result = of.text() != nullptr ? text_methods().at(name)(*of.text(), given)
                 : of.dict()->loop    ? cycled(of, given)
                                      : dict_method(of, name, given);
  work.spend(size_of(result));
  return result;
}

}  // namespace fovea::jinja
