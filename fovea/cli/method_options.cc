#include "fovea/cli/method_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"

namespace fovea {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : all_methods()) names.push_back(method.name);
  return names;
}

Method method_named(std::string_view option, std::string_view name) {
  const std::vector<Method> all = all_methods();
  const auto found = std::ranges::find(all, name, &Method::name);
  if (found != all.end()) return *found;
  const std::vector<std::string> names = method_names();
  fail(ErrorKind::kInvalidArgument, "{} is '{}' but must be one of {}{}", option, name,
       fmt::join(names, ", "), did_you_mean(name, names));
}

}  // namespace fovea
