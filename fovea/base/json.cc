#include "fovea/base/json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t kDeepestNesting = 256;  // destruction is recursive; no real file comes near
constexpr size_t kSmallObject = 16;      // up to here a linear search is faster than an index
constexpr int kLongestQuote = 160;       // a bad token may be as long as the file

[[noreturn]] void fail_type(const Json& json, std::string_view where, std::string_view wanted) {
  fail(ErrorKind::kBadFile, "{} should be {} but is {}", where, wanted, json.type_name());
}

// nlohmann knows how to escape a string and how to write a number that reads back the same.
template <typename T>
void write_scalar(std::string& text, const T& value) {
  text += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// Receives nlohmann's parse events and builds our value, so that no second tree is ever made.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(std::string_view source) : source_(source) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return add(Json(static_cast<double>(value)));
    }
    return add(Json(static_cast<int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool key(string_t& value) override {
    keys_.back() = std::move(value);
    return true;
  }
  bool end_object() override {
    auto& members = std::get<Json::Members>(stack_.back().value_);
    members.build_index();
    if (const auto* twice = find_duplicate(members)) {
      fail(ErrorKind::kBadFile, "{}: the key '{}' appears twice in one object; remove one", source_,
           shorten(*twice, kLongestQuote));
    }
    return close();
  }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    // nlohmann's text is "[json.exception...] parse error at line L, column C: reason".
    std::string_view reason = error.what();
    if (const size_t at = reason.find("] "); at != std::string_view::npos) {
      reason.remove_prefix(at + 2);
    }
    fail(ErrorKind::kBadFile, "{}: not valid JSON near byte {}: {}", source_, position,
         shorten(reason, kLongestQuote));
  }

 private:
  static const std::string* find_duplicate(const Json::Members& members) {
    const auto& list = members.list;
    if (!members.by_key.empty()) {
      const auto same = [&](uint32_t a, uint32_t b) { return list[a].first == list[b].first; };
      const auto it = std::adjacent_find(members.by_key.begin(), members.by_key.end(), same);
      return it == members.by_key.end() ? nullptr : &list[*it].first;
    }
    for (size_t i = 0; i < list.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (list[i].first == list[j].first) return &list[i].first;
      }
    }
    return nullptr;
  }

  bool open(Json container) {
    if (stack_.size() >= kDeepestNesting) {
      fail(ErrorKind::kBadFile, "{}: JSON nested deeper than {} levels is not read", source_,
           kDeepestNesting);
    }
    stack_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    Json finished = std::move(stack_.back());
    stack_.pop_back();
    keys_.pop_back();
    return add(std::move(finished));
  }

  bool add(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (auto* array = std::get_if<Json::Array>(&stack_.back().value_)) {
      array->push_back(std::move(value));
    } else {
      std::get<Json::Members>(stack_.back().value_)
          .list.emplace_back(std::move(keys_.back()), std::move(value));
    }
    return true;
  }

  std::string source_;
  Json root_;
  std::vector<Json> stack_;
  std::vector<std::string> keys_;  // the key read last, for each open container
};

Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(bool value) : value_(value) {}
Json::Json(int value) : value_(int64_t{value}) {}
Json::Json(int64_t value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* value) : value_(std::string(value)) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(std::string_view value) : value_(std::string(value)) {}
Json::Json(Array value) : value_(std::move(value)) {}
Json::Json(Members members) : value_(std::move(members)) {}
Json::Json(size_t value) {
  if (value > static_cast<size_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<double>(value);
  } else {
    value_ = static_cast<int64_t>(value);
  }
}

Json Json::array() {
  return Json(Array{});
}

Json Json::object() {
  return Json(Members{});
}

Json Json::object(std::initializer_list<Member> members) {
  Json json = object();
  for (const auto& [key, value] : members) json.set(key, value);
  return json;
}

Json Json::parse(std::string_view text, std::string_view source) {
  // nlohmann takes a zero byte as the end and would pass over all that follows.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    fail(ErrorKind::kBadFile, "{}: not valid JSON: byte {} is zero", source, zero);
  }
  JsonBuilder builder(source);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    fail(ErrorKind::kBadFile, "{}: not valid JSON", source);
  }
  return builder.take();
}

bool Json::is_object() const {
  return std::holds_alternative<Members>(value_);
}

std::string_view Json::type_name() const {
  static constexpr std::string_view kNames[] = {
      "null", "true or false", "a whole number", "a number", "a string", "an array", "an object"};
  return kNames[value_.index()];
}

bool Json::as_bool(std::string_view where) const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  fail_type(*this, where, "true or false");
}

int64_t Json::as_int(std::string_view where) const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<double>(&value_);
      value != nullptr && std::trunc(*value) == *value && std::abs(*value) < 9e15) {
    return static_cast<int64_t>(*value);
  }
  fail_type(*this, where, "a whole number");
}

double Json::as_double(std::string_view where) const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  fail_type(*this, where, "a number");
}

const std::string& Json::as_string(std::string_view where) const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  fail_type(*this, where, "a string");
}

const Json::Array& Json::as_array(std::string_view where) const {
  if (const auto* value = std::get_if<Array>(&value_)) return *value;
  fail_type(*this, where, "an array");
}

const std::vector<Json::Member>& Json::as_object(std::string_view where) const {
  if (const auto* value = std::get_if<Members>(&value_)) return value->list;
  fail_type(*this, where, "an object");
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Members>(&value_);
  return members == nullptr ? nullptr : members->find(key);
}

const Json& Json::at(std::string_view key, std::string_view where) const {
  as_object(where);
  const Json* value = find(key);
  if (value == nullptr) fail(ErrorKind::kBadFile, "{}: has no '{}'", where, key);
  return *value;
}

void Json::push_back(Json value) {
  std::get<Array>(value_).push_back(std::move(value));
}

void Json::set(std::string key, Json value) {
  auto& members = std::get<Members>(value_);
  if (const Json* present = members.find(key)) {
    *const_cast<Json*>(present) = std::move(value);
    return;
  }
  members.list.emplace_back(std::move(key), std::move(value));
  members.index_last();
}

const Json* Json::Members::find(std::string_view key) const {
  if (by_key.empty()) {
    const auto it = std::find_if(list.begin(), list.end(),
                                 [&](const Member& member) { return member.first == key; });
    return it == list.end() ? nullptr : &it->second;
  }
  const auto it =
      std::lower_bound(by_key.begin(), by_key.end(), key,
                       [&](uint32_t i, std::string_view k) { return list[i].first < k; });
  return it == by_key.end() || list[*it].first != key ? nullptr : &list[*it].second;
}

void Json::Members::build_index() {
  if (list.size() <= kSmallObject) return;
  by_key.resize(list.size());
  std::iota(by_key.begin(), by_key.end(), 0U);
  std::sort(by_key.begin(), by_key.end(),
            [&](uint32_t a, uint32_t b) { return list[a].first < list[b].first; });
}

void Json::Members::index_last() {
  if (by_key.empty()) return build_index();
  const auto last = static_cast<uint32_t>(list.size() - 1);
  const auto less = [&](uint32_t a, uint32_t b) { return list[a].first < list[b].first; };
  by_key.insert(std::upper_bound(by_key.begin(), by_key.end(), last, less), last);
}

std::string Json::dump(int indent) const {
  std::string text;
  write(text, indent, 0);
  return text;
}

void Json::write(std::string& text, int indent, int depth) const {
  const auto write_line = [&](int at_depth) {
    if (indent >= 0) text.append(1, '\n').append(static_cast<size_t>(indent * at_depth), ' ');
  };
  const auto write_list = [&](char open, const auto& items, const auto& write_item, char close) {
    text += open;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += ',';
      write_line(depth + 1);
      write_item(items[i]);
    }
    if (!items.empty()) write_line(depth);
    text += close;
  };
  if (const auto* items = std::get_if<Array>(&value_)) {
    write_list(
        '[', *items, [&](const Json& item) { item.write(text, indent, depth + 1); }, ']');
  } else if (const auto* members = std::get_if<Members>(&value_)) {
    const auto write_member = [&](const Member& member) {
      write_scalar(text, member.first);
      text += indent >= 0 ? ": " : ":";
      member.second.write(text, indent, depth + 1);
    };
    write_list('{', members->list, write_member, '}');
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    text += *flag ? "true" : "false";
  } else if (const auto* integer = std::get_if<int64_t>(&value_)) {
    text += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    write_scalar(text, *number);
  } else if (const auto* string = std::get_if<std::string>(&value_)) {
    write_scalar(text, *string);
  } else {
    text += "null";
  }
}

}  // namespace fovea
