#include "fovea/cli/method_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"
#include "fovea/cli/views.h"

namespace fovea {

std::vector<std::string> method_names() {
  return names_of(all_methods());
}

Method method_named(std::string_view option, std::string_view name) {
  const std::vector<Method> all = all_methods();
  const auto found = std::ranges::find(all, name, &Method::name);
  if (found != all.end()) return *found;
  const std::vector<std::string> names = names_of(all);
  fail(ErrorKind::kInvalidArgument, "{} is '{}' but must be one of {}{}", option, name,
       fmt::join(names, ", "), did_you_mean(name, names));
}

}  // namespace fovea
