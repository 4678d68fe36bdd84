// Values of a chat template, as Python has them: Jinja templates are written for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fovea/base/json.h"

namespace fovea::jinja {

class Value;
struct Macro;

// A name without a value. It prints as nothing, and most uses of it are an error.
struct Undefined {
  std::string name;
};
struct None {};
struct List {
  std::vector<Value> items;
  bool tuple = false;
  int depth = 0;  // of lists and dictionaries within each other
};
struct Dict {
  std::vector<std::pair<std::string, Value>> items;
  bool loop = false;  // the variable `loop`, which can also be asked for loop.cycle()
  int depth = 0;

  const Value* find(std::string_view key) const;
};
// The only thing that can be changed after it was made. The renderer owns them, so that one within
// itself is no leak.
struct Namespace {
  Dict values;
  void set(const std::string& name, Value value);
};
// A function that every template knows, by its name.
struct Function {
  std::string name;
};

class Value {
 public:
  using Stored = std::variant<Undefined, None, bool, int64_t, double,
                              std::shared_ptr<const std::string>, std::shared_ptr<const List>,
                              std::shared_ptr<const Dict>, Namespace*, const Macro*, Function>;

  Value() : stored_(None{}) {}
  // NOLINTBEGIN(google-explicit-constructor)
  Value(bool value) : stored_(value) {}
  Value(int64_t value) : stored_(value) {}
  Value(double value) : stored_(value) {}
  Value(std::string value) : stored_(std::make_shared<const std::string>(std::move(value))) {}
  Value(const char* value) : Value(std::string(value)) {}
  // Throws Error{kUnsupported} for values within values that are too deep to be walked through.
  Value(List value);
  Value(Dict value);
  Value(Namespace* value) : stored_(value) {}
  Value(const Macro* value) : stored_(value) {}
  Value(Function value) : stored_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor)
  static Value undefined(std::string name);
  static Value of(const Json& json);

  bool is_undefined() const { return std::holds_alternative<Undefined>(stored_); }
  bool is_none() const { return std::holds_alternative<None>(stored_); }
  bool is_bool() const { return std::holds_alternative<bool>(stored_); }
  bool is_int() const { return std::holds_alternative<int64_t>(stored_); }
  bool is_real() const { return std::holds_alternative<double>(stored_); }
  bool is_number() const { return is_bool() || is_int() || is_real(); }
  bool is_callable() const {
    return std::holds_alternative<const Macro*>(stored_) ||
           std::holds_alternative<Function>(stored_);
  }
  // Null if it is something else.
  const std::string* text() const;
  const List* list() const;
  const Dict* dict() const;
  Namespace* name_space() const;
  const Macro* macro() const;
  const Function* function() const;
  const std::string& undefined_name() const { return std::get<Undefined>(stored_).name; }

  int depth() const;
  double real() const;      // of a number
  int64_t integer() const;  // of a bool or an int

  bool truth() const;
  std::string_view type_name() const;  // "a text", "none", ...

 private:
  Stored stored_;
};

// As Python's str() and repr(). A namespace or macro prints as its kind.
std::string printed(const Value& value);
std::string literal_of(const Value& value);

bool equal(const Value& a, const Value& b);
// Throws Error{kUnsupported} for values that Python does not order.
bool less(const Value& a, const Value& b);
// What a loop goes through: items, keys, characters. Throws Error{kUnsupported} for others.
std::vector<Value> items_of(const Value& value);
bool contains(const Value& container, const Value& item);
// The number of items, keys or characters. Throws as items_of() does.
int64_t length_of(const Value& value);

struct JsonLayout {
  bool ascii_only = false;
  int64_t indent = -1;  // < 0: one line
  std::string between = ", ", after_key = ": ";
  bool sorted = false;
};
// As Python's json.dumps(). Throws Error{kUnsupported} for what JSON cannot hold.
std::string json_text(const Value& value, const JsonLayout& layout);

}  // namespace fovea::jinja
