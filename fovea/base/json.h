// JSON values. nlohmann/json does the parsing; only json.cc includes it, which keeps builds short.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fovea {

// A value with ordinary copy semantics; objects keep the order of their members.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;

  // All of these are defined in json.cc. Inline, every user of Json would compile the variant's
  // code again.
  Json();  // null
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  // These convert implicitly: any value that JSON can hold becomes a Json.
  // NOLINTBEGIN(google-explicit-constructor)
  Json(bool value);
  Json(int value);
  Json(int64_t value);
  Json(size_t value);
  Json(double value);
  Json(const char* value);
  Json(std::string value);
  Json(std::string_view value);
  Json(Array value);
  // NOLINTEND(google-explicit-constructor)
  static Json array();
  static Json object();
  static Json object(std::initializer_list<Member> members);  // the names must differ
  template <typename Range>
  static Json array_of(const Range& values) {
    Array items;
    for (const auto& value : values) items.emplace_back(value);
    return Json(std::move(items));
  }

  // Throws Error{kBadFile} naming `source` and the line and column. Refuses duplicate keys, invalid
  // UTF-8 and nesting deeper than 256.
  static Json parse(std::string_view text, std::string_view source);
  // `indent` < 0 gives one line. Numbers are written so that they read back the same; a number that
  // JSON cannot hold (NaN, infinity) is written as null.
  std::string dump(int indent = -1) const;

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const;
  std::string_view type_name() const;  // "a string", "an array", ...

  // Each throws Error{kBadFile} "`where` should be a string but is an array" on another type.
  // `where` names the file and the member.
  bool as_bool(std::string_view where) const;
  int64_t as_int(std::string_view where) const;  // 4.0 is taken as 4
  double as_double(std::string_view where) const;
  const std::string& as_string(std::string_view where) const;
  const Array& as_array(std::string_view where) const;
  const std::vector<Member>& as_object(std::string_view where) const;

  // Member of an object: nullptr if it is missing or this is not an object.
  const Json* find(std::string_view key) const;
  // As find, but throws Error{kBadFile} if it is missing.
  const Json& at(std::string_view key, std::string_view where) const;

  // Building. set() replaces a member that is there.
  void push_back(Json value);
  void set(std::string key, Json value);

 private:
  friend class JsonBuilder;
  // The members in their order. Large objects also have an index sorted by key.
  struct Members {
    std::vector<Member> list;
    std::vector<uint32_t> by_key;
    const Json* find(std::string_view key) const;
    void build_index();
    void index_last();  // after one member was added to the list
  };
  void write(std::string& text, int indent, int depth) const;
  explicit Json(Members members);
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Members> value_;
};

}  // namespace fovea
