// The names that people use for the values of an enumeration: one table of what is written, read
// and offered.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Throws Error{kInvalidArgument}: "there is no <what> '<name>'; there are <names>".
[[noreturn]] void fail_without_name(std::string_view what, std::string_view name,
                                    std::span<const std::string> names);

template <typename Value, size_t kCount>
struct NameTable {
  struct Entry {
    Value value;
    std::string_view name;
  };
  std::string_view what;  // for messages: "way to choose links"
  Entry entries[kCount];

  std::string_view name_of(Value value) const {
    for (const Entry& entry : entries) {
      if (entry.value == value) return entry.name;
    }
    return "";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries) all.emplace_back(entry.name);
    return all;
  }
  // Throws Error{kInvalidArgument} that lists the names.
  Value named(std::string_view name) const {
    for (const Entry& entry : entries) {
      if (entry.name == name) return entry.value;
    }
    fail_without_name(what, name, names());
  }
};

}  // namespace fovea
