// How templates look into values, and their functions.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/jinja/builtins.h"
#include "fovea/text/unicode.h"

namespace fovea::jinja {
namespace {

constexpr int64_t kLongestRange = 100'000;  // as Jinja's sandbox allows

[[noreturn]] void refuse_undefined(const Value& value, std::string_view part) {
  fail(ErrorKind::kUnsupported, "'{}' is undefined, and its part '{}' is used",
       value.undefined_name(), part);
}

int64_t whole(const Value& value, std::string_view what) {
  if (!value.is_int() && !value.is_bool()) {
    fail(ErrorKind::kUnsupported, "{} is {} and no whole number", what, value.type_name());
  }
  return value.integer();
}

Value range_of(const Given& given, Work& work) {
  if (given.plain.empty() || given.plain.size() > 3 || !given.named.empty()) {
    fail(ErrorKind::kUnsupported, "range() takes one to three numbers");
  }
  const auto at = [&](size_t i) { return whole(given.plain[i], "a bound of range()"); };
  const int64_t begin = given.plain.size() > 1 ? at(0) : 0;
  const int64_t end = given.plain.size() > 1 ? at(1) : at(0);
  const int64_t step = given.plain.size() > 2 ? at(2) : 1;
  if (step == 0) fail(ErrorKind::kUnsupported, "the step of range() is 0");
  List list;
  for (int64_t i = begin; step > 0 ? i < end : i > end;) {
    if (std::ssize(list.items) >= kLongestRange) {
      fail(ErrorKind::kUnsupported, "range() of more than {} numbers", kLongestRange);
    }
    list.items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  work.spend(list.items.size());
  return list;
}

std::string time_text(const Given& given, std::time_t now) {
  const Value* format = given.find(0, "format");
  if (format == nullptr || format->text() == nullptr) {
    fail(ErrorKind::kUnsupported, "strftime_now() takes a text");
  }
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::string text(format->text()->size() * 8 + 64, '\0');
  text.resize(std::strftime(text.data(), text.size(), format->text()->c_str(), &parts));
  return text;
}

}  // namespace

void Work::spend(size_t amount) {
  constexpr size_t kStep = 64;  // of an operation that makes nothing
  const size_t cost = amount + kStep;
  if (cost > left_) {
    fail(ErrorKind::kUnsupported, "the template makes more than fovea follows; it may never end");
  }
  left_ -= cost;
}

const Value* Given::find(size_t place, std::string_view name) const {
  if (place < plain.size()) return &plain[place];
  for (const auto& [given, value] : named) {
    if (given == name) return &value;
  }
  return nullptr;
}

bool is_function(std::string_view name) {
  return name == "range" || name == "raise_exception" || name == "strftime_now" ||
         name == "namespace" || name == "dict";
}

Value function_result(std::string_view name, const Given& given, std::time_t now, Work& work) {
  if (name == "range") return range_of(given, work);
  if (name == "strftime_now") return time_text(given, now);
  if (name == "raise_exception") {
    const Value* message = given.find(0, "message");
    fail(ErrorKind::kInvalidArgument, "the model's chat template refuses this: {}",
         message == nullptr ? "" : printed(*message));
  }
  if (name == "dict" && given.plain.empty()) return Dict{.items = given.named};
  fail(ErrorKind::kUnsupported, "{}() with these arguments is not known to fovea", name);
}

Value part_named(const Value& value, std::string_view name) {
  if (value.is_undefined()) refuse_undefined(value, name);
  const Dict* dict = value.dict();
  if (const Namespace* names = value.name_space()) dict = &names->values;
  const Value* found = dict == nullptr ? nullptr : dict->find(name);
  return found == nullptr ? Value::undefined(std::string(name)) : *found;
}

Value item_of(const Value& value, const Value& index) {
  if (index.text() != nullptr) return part_named(value, *index.text());
  if (value.is_undefined()) refuse_undefined(value, printed(index));
  const bool whole_number = index.is_int() || index.is_bool();
  if (!whole_number || (value.list() == nullptr && value.text() == nullptr)) {
    return Value::undefined(printed(index));
  }
  const std::vector<Value> copied =
      value.list() == nullptr ? items_of(value) : std::vector<Value>();
  const std::vector<Value>& items = value.list() == nullptr ? copied : value.list()->items;
  const int64_t place = index.integer() + (index.integer() < 0 ? std::ssize(items) : 0);
  if (place < 0 || place >= std::ssize(items)) return Value::undefined(printed(index));
  return items[static_cast<size_t>(place)];
}

Value slice_of(const Value& value, const Value& begin, const Value& end, const Value& step) {
  if (value.is_undefined()) refuse_undefined(value, ":");
  if (value.list() == nullptr && value.text() == nullptr) {
    fail(ErrorKind::kUnsupported, "a part of {} is taken by ':'", value.type_name());
  }
  const std::vector<Value> items = items_of(value);
  const int64_t size = std::ssize(items), by = step.is_none() ? 1 : whole(step, "a step");
  if (by == 0) fail(ErrorKind::kUnsupported, "the step of a part is 0");
  const int64_t low = by > 0 ? 0 : -1, high = by > 0 ? size : size - 1;
  const auto bound = [&](const Value& given, int64_t otherwise) {
    if (given.is_none()) return otherwise;
    const int64_t at = whole(given, "a bound");
    return std::clamp(at < 0 ? std::max(at, -size - 1) + size : at, low, high);
  };
  const int64_t from = bound(begin, by > 0 ? low : high), to = bound(end, by > 0 ? high : low);
  List part{.items = {}, .tuple = value.list() != nullptr && value.list()->tuple};
  for (int64_t i = from; by > 0 ? i < to : i > to;) {
    part.items.push_back(items[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  if (value.list() != nullptr) return part;
  std::string text;
  for (const Value& item : part.items) text += *item.text();
  return text;
}

}  // namespace fovea::jinja
