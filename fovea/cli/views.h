// Lists of values with a `name` and a `summary`: for choices and for the help.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/cli/help.h"

namespace fovea {

template <typename View>
std::vector<std::string> names_of(const std::vector<View>& views) {
  std::vector<std::string> names;
  for (const View& view : views) names.push_back(view.name);
  return names;
}

// One line each, for the help.
template <typename View>
std::string summaries_of(const std::vector<View>& views) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const View& view : views) lines.emplace_back(view.name, view.summary);
  return help_list(lines);
}

}  // namespace fovea
