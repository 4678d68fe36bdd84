// Members of tokenizer files that have a default where they are missing or null, and such objects.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

inline bool bool_field(const Json& json, std::string_view key, bool missing,
                       std::string_view where) {
  const Json* value = json.find(key);
  return value == nullptr || value->is_null() ? missing : value->as_bool(where);
}

// Throws Error{kBadFile} if it is missing.
inline std::string string_field(const Json& json, std::string_view key, std::string_view where) {
  return json.at(key, where).as_string(where);
}

inline std::string string_field(const Json& json, std::string_view key, std::string_view missing,
                                std::string_view where) {
  const Json* value = json.find(key);
  return value == nullptr || value->is_null() ? std::string(missing) : value->as_string(where);
}

inline int64_t int_field(const Json& json, std::string_view key, int64_t missing,
                         std::string_view where) {
  const Json* value = json.find(key);
  return value == nullptr || value->is_null() ? missing : value->as_int(where);
}

inline Json object_of(std::vector<std::pair<std::string, Json>> members) {
  Json object = Json::object();
  for (auto& [key, value] : members) object.set(std::move(key), std::move(value));
  return object;
}

}  // namespace fovea
