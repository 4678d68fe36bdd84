#include "fovea/text/jinja/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/overloaded.h"
#include "fovea/text/unicode.h"

namespace fovea::jinja {
namespace {

constexpr int kDeepest = 100;  // of values within values

void check_depth(int depth) {
  if (depth > kDeepest) {
    fail(ErrorKind::kUnsupported, "values lie within values more than {} deep", kDeepest);
  }
}

// The digits that tell the number apart, and always a sign that it is no whole number.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

void quote_text(std::string& out, const std::string& text) {
  const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  out += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += quote;
}

void write(std::string& out, const Value& value) {
  if (const std::string* text = value.text()) {
    quote_text(out, *text);
  } else if (const List* list = value.list()) {
    out += list->tuple ? '(' : '[';
    for (size_t i = 0; i < list->items.size(); ++i) {
      if (i > 0) out += ", ";
      write(out, list->items[i]);
    }
    if (list->tuple && list->items.size() == 1) out += ',';
    out += list->tuple ? ')' : ']';
  } else if (const Dict* dict = value.dict()) {
    out += '{';
    for (size_t i = 0; i < dict->items.size(); ++i) {
      if (i > 0) out += ", ";
      quote_text(out, dict->items[i].first);
      out += ": ";
      write(out, dict->items[i].second);
    }
    out += '}';
  } else {
    out += printed(value);
  }
}

bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (!a.is_real() && !b.is_real()) return a.integer() == b.integer();
    return a.real() == b.real();
  }
  if (a.text() != nullptr && b.text() != nullptr) return *a.text() == *b.text();
  if (const List *x = a.list(), *y = b.list(); x != nullptr && y != nullptr) {
    return x->tuple == y->tuple &&
           std::ranges::equal(x->items, y->items, [&](const Value& left, const Value& right) {
             return same(left, right);
           });
  }
  if (const Dict *x = a.dict(), *y = b.dict(); x != nullptr && y != nullptr) {
    return x->items.size() == y->items.size() &&
           std::ranges::all_of(x->items, [&](const auto& item) {
             const Value* other = y->find(item.first);
             return other != nullptr && same(item.second, *other);
           });
  }
  if (a.name_space() != nullptr) return a.name_space() == b.name_space();
  if (a.macro() != nullptr) return a.macro() == b.macro();
  if (a.function() != nullptr && b.function() != nullptr) {
    return a.function()->name == b.function()->name;
  }
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

void json_string(std::string& out, const std::string& text, bool ascii_only) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const char32_t code = character.code;
    const auto escape = [&](uint32_t unit) { out += fmt::format("\\u{:04x}", unit); };
    switch (code) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (code < 0x20 || (ascii_only && code >= 0x7F && code < 0x10000)) {
          code == 0x7F ? void(out += '\x7F') : escape(code);
        } else if (ascii_only && code >= 0x10000) {
          escape(0xD800 + ((code - 0x10000) >> 10U));
          escape(0xDC00 + ((code - 0x10000) & 0x3FFU));
        } else {
          out.append(text, at, character.bytes);
        }
    }
    at += character.bytes;
  }
  out += '"';
}

void write_json(std::string& out, const Value& value, const JsonLayout& layout, int depth) {
  const auto line = [&](int level) {
    if (layout.indent < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(layout.indent * level), ' ');
  };
  if (value.is_none()) {
    out += "null";
  } else if (value.is_bool()) {
    out += value.truth() ? "true" : "false";
  } else if (value.is_int()) {
    out += std::to_string(value.integer());
  } else if (value.is_real()) {
    const double real = value.real();
    out += std::isnan(real)   ? "NaN"
           : std::isinf(real) ? (real > 0 ? "Infinity" : "-Infinity")
                              : real_text(real);
  } else if (const std::string* text = value.text()) {
    json_string(out, *text, layout.ascii_only);
  } else if (const List* list = value.list()) {
    out += '[';
    for (size_t i = 0; i < list->items.size(); ++i) {
      if (i > 0) out += layout.between;
      line(depth + 1);
      write_json(out, list->items[i], layout, depth + 1);
    }
    if (!list->items.empty()) line(depth);
    out += ']';
  } else if (const Dict* dict = value.dict()) {
    auto items = dict->items;
    if (layout.sorted) std::ranges::sort(items, {}, [](const auto& item) { return item.first; });
    out += '{';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += layout.between;
      line(depth + 1);
      json_string(out, items[i].first, layout.ascii_only);
      out += layout.after_key;
      write_json(out, items[i].second, layout, depth + 1);
    }
    if (!items.empty()) line(depth);
    out += '}';
  } else {
    fail(ErrorKind::kUnsupported, "{} cannot be written as JSON", value.type_name());
  }
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
  const auto found = std::ranges::find(items, key, [](const auto& item) { return item.first; });
  return found == items.end() ? nullptr : &found->second;
}

void Namespace::set(const std::string& name, Value value) {
  for (auto& [known, old] : values.items) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  values.items.emplace_back(name, std::move(value));
}

Value::Value(List value) {
  for (const Value& item : value.items) value.depth = std::max(value.depth, item.depth() + 1);
  check_depth(value.depth);
  stored_ = std::make_shared<const List>(std::move(value));
}

Value::Value(Dict value) {
  for (const auto& [key, item] : value.items) value.depth = std::max(value.depth, item.depth() + 1);
  check_depth(value.depth);
  stored_ = std::make_shared<const Dict>(std::move(value));
}

int Value::depth() const {
  if (const List* held = list()) return held->depth;
  if (const Dict* held = dict()) return held->depth;
  return 0;
}

Value Value::undefined(std::string name) {
  Value value;
  value.stored_ = Undefined{std::move(name)};
  return value;
}

Value Value::of(const Json& json) {
  constexpr std::string_view kWhere = "a value";
  if (json.is_bool()) return json.as_bool(kWhere);
  if (json.is_int()) return json.as_int(kWhere);
  if (json.is_number()) return json.as_double(kWhere);
  if (json.is_string()) return json.as_string(kWhere);
  if (json.is_array()) {
    List list;
    for (const Json& item : json.as_array(kWhere)) list.items.push_back(of(item));
    return list;
  }
  if (json.is_object()) {
    Dict dict;
    for (const auto& [key, value] : json.as_object(kWhere)) {
      dict.items.emplace_back(key, of(value));
    }
    return dict;
  }
  return {};
}

const std::string* Value::text() const {
  const auto* held = std::get_if<std::shared_ptr<const std::string>>(&stored_);
  return held == nullptr ? nullptr : held->get();
}
const List* Value::list() const {
  const auto* held = std::get_if<std::shared_ptr<const List>>(&stored_);
  return held == nullptr ? nullptr : held->get();
}
const Dict* Value::dict() const {
  const auto* held = std::get_if<std::shared_ptr<const Dict>>(&stored_);
  return held == nullptr ? nullptr : held->get();
}
Namespace* Value::name_space() const {
  const auto* held = std::get_if<Namespace*>(&stored_);
  return held == nullptr ? nullptr : *held;
}
const Macro* Value::macro() const {
  const auto* held = std::get_if<const Macro*>(&stored_);
  return held == nullptr ? nullptr : *held;
}
const Function* Value::function() const {
  return std::get_if<Function>(&stored_);
}

double Value::real() const {
  return is_real() ? std::get<double>(stored_) : static_cast<double>(integer());
}
int64_t Value::integer() const {
  return is_bool() ? int64_t{std::get<bool>(stored_)} : std::get<int64_t>(stored_);
}

bool Value::truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return real() != 0;
  if (const std::string* held = text()) return !held->empty();
  if (const List* held = list()) return !held->items.empty();
  if (const Dict* held = dict()) return held->loop || !held->items.empty();
  return true;
}

std::string_view Value::type_name() const {
  return std::visit(
      Overloaded{[](const Undefined&) { return "an undefined name"; },
                 [](const None&) { return "none"; }, [](bool) { return "a truth value"; },
                 [](int64_t) { return "a whole number"; }, [](double) { return "a number"; },
                 [](const std::shared_ptr<const std::string>&) { return "a text"; },
                 [](const std::shared_ptr<const List>&) { return "a list"; },
                 [](const std::shared_ptr<const Dict>&) { return "a dictionary"; },
                 [](Namespace*) { return "a namespace"; }, [](const Macro*) { return "a macro"; },
                 [](const Function&) { return "a function"; }},
      stored_);
}

std::string printed(const Value& value) {
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (value.is_bool()) return value.truth() ? "True" : "False";
  if (value.is_int()) return std::to_string(value.integer());
  if (value.is_real()) return real_text(value.real());
  if (const std::string* text = value.text()) return *text;
  if (value.list() == nullptr && value.dict() == nullptr) {
    fail(ErrorKind::kUnsupported, "{} cannot be printed", value.type_name());
  }
  return literal_of(value);
}

std::string literal_of(const Value& value) {
  std::string out;
  write(out, value);
  return out;
}

bool equal(const Value& a, const Value& b) {
  return same(a, b);
}

bool less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (!a.is_real() && !b.is_real()) return a.integer() < b.integer();
    return a.real() < b.real();
  }
  if (a.text() != nullptr && b.text() != nullptr) return *a.text() < *b.text();
  if (const List *x = a.list(), *y = b.list(); x != nullptr && y != nullptr) {
    for (size_t i = 0; i < std::min(x->items.size(), y->items.size()); ++i) {
      if (!equal(x->items[i], y->items[i])) return less(x->items[i], y->items[i]);
    }
    return x->items.size() < y->items.size();
  }
  fail(ErrorKind::kUnsupported, "{} and {} have no order", a.type_name(), b.type_name());
}

std::vector<Value> items_of(const Value& value) {
  if (value.is_undefined()) return {};
  if (const List* list = value.list()) return list->items;
  std::vector<Value> items;
  if (const Dict* dict = value.dict(); dict != nullptr && !dict->loop) {
    for (const auto& item : dict->items) items.emplace_back(item.first);
    return items;
  }
  if (const std::string* text = value.text()) {
    for (size_t at = 0; at < text->size();) {
      const uint32_t bytes = character_at(*text, at).bytes;
      items.emplace_back(text->substr(at, bytes));
      at += bytes;
    }
    return items;
  }
  fail(ErrorKind::kUnsupported, "{} has no items to go through", value.type_name());
}

bool contains(const Value& container, const Value& item) {
  if (const std::string* text = container.text()) {
    if (item.text() == nullptr) {
      fail(ErrorKind::kUnsupported, "{} is looked for in a text", item.type_name());
    }
    return text->find(*item.text()) != text->npos;
  }
  if (const Dict* dict = container.dict()) {
    return item.text() != nullptr && dict->find(*item.text()) != nullptr;
  }
  const std::vector<Value> items = items_of(container);
  return std::ranges::any_of(items, [&](const Value& each) { return equal(each, item); });
}

int64_t length_of(const Value& value) {
  if (const List* list = value.list()) return std::ssize(list->items);
  if (const Dict* dict = value.dict()) return std::ssize(dict->items);
  if (const std::string* text = value.text()) {
    return std::ranges::count_if(*text, [](char c) { return !is_continuation(c); });
  }
  return std::ssize(items_of(value));
}

std::string json_text(const Value& value, const JsonLayout& layout) {
  std::string out;
  write_json(out, value, layout, 0);
  return out;
}

}  // namespace fovea::jinja
