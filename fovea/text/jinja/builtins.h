// What every template can use: filters, tests, functions, and the methods of Python's values.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/text/jinja/value.h"

namespace fovea::jinja {

struct Given {
  std::vector<Value> plain;
  std::vector<std::pair<std::string, Value>> named;

  // The argument at `place` or of this name; null if it is not given.
  const Value* find(size_t place, std::string_view name) const;
};

// What may be spent on one template: no file keeps the program busy or fills its memory. The work
// of an operation is the size of what it makes.
class Work {
 public:
  // Throws Error{kUnsupported} once it is too much.
  void spend(size_t amount);

 private:
  size_t left_ = size_t{1} << 27;
};

// Each throws Error{kUnsupported} naming what it does not know, and for arguments of wrong types.
Value filtered(std::string_view name, const Value& value, const Given& given, Work& work);
bool tested(std::string_view name, const Value& value, const Given& given);
Value method_result(const Value& of, std::string_view name, const Given& given, Work& work);
bool has_method(const Value& of, std::string_view name);

// range, raise_exception, strftime_now, dict; `namespace` is the renderer's.
bool is_function(std::string_view name);
// Throws Error{kInvalidArgument} with what the template says by raise_exception().
Value function_result(std::string_view name, const Given& given, std::time_t now, Work& work);

// value.name and value[index], as Jinja looks them up: undefined if there is none. Throws
// Error{kUnsupported} for parts of what is itself undefined.
Value part_named(const Value& value, std::string_view name);
Value item_of(const Value& value, const Value& index);
Value slice_of(const Value& value, const Value& begin, const Value& end, const Value& step);

}  // namespace fovea::jinja
