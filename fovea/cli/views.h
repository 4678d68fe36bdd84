// Lists of values with a `name`: for choices.
#pragma once

#include <string>
#include <vector>

namespace fovea {

template <typename View>
std::vector<std::string> names_of(const std::vector<View>& views) {
  std::vector<std::string> names;
  for (const View& view : views) names.push_back(view.name);
  return names;
}

}  // namespace fovea
