// What verbs with several views share: lists of values with a `name`, a `summary` and the `options`
// that only some of them take.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/cli/command.h"
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

// Throws Error{kInvalidArgument} for an option that belongs to other views than the chosen one.
template <typename View>
void refuse_options_of_others(const std::vector<View>& views, const View& chosen,
                              const Args& args) {
  for (const View& view : views) {
    for (const std::string& option : view.options) {
      if (!args.has(option) || std::ranges::count(chosen.options, option) > 0) continue;
      fail(ErrorKind::kInvalidArgument, "--{} does not go with --view {}; leave one out", option,
           chosen.name);
    }
  }
}

}  // namespace fovea
