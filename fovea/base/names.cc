#include "fovea/base/names.h"

#include <fmt/ranges.h>

#include "fovea/base/error.h"

namespace fovea {

void fail_without_name(std::string_view what, std::string_view name,
                       std::span<const std::string> names) {
  fail(ErrorKind::kInvalidArgument, "there is no {} '{}'; there are {}", what, name,
       fmt::join(names, ", "));
}

}  // namespace fovea
