#include "fovea/atlas/map_value.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

std::span<const std::string_view> map_value_names() {
  static constexpr std::string_view kNames[] = {"weight", "times-even", "score", "value-weighted"};
  return kNames;
}

MapValue map_value_named(std::string_view name) {
  const auto names = map_value_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    fail(ErrorKind::kInvalidArgument, Field{"of"}, "'{}' is not one of {}", name,
         fmt::join(names, ", "));
  }
  return static_cast<MapValue>(found - names.begin());
}

}  // namespace fovea
