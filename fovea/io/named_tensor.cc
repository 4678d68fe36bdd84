#include "fovea/io/named_tensor.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {

void check_names(std::vector<std::string_view> names, std::string_view what,
                 std::string_view source) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    fail(ErrorKind::kInvalidArgument, "{}: two {} are called {}; rename one", source, what,
         quote_name(*twice));
  }
  for (const std::string_view name : names) {
    if (find_invalid_utf8(name) != std::string_view::npos) {
      fail(ErrorKind::kInvalidArgument, "{}: the name {} is not valid UTF-8; rename it", source,
           quote_name(name));
    }
  }
}

}  // namespace fovea
