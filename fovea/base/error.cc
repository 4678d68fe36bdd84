#include "fovea/base/error.h"

#include <fmt/format.h>

#include "fovea/base/utf8.h"

namespace fovea {

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(to_one_line(message)), kind_(kind) {}

void throw_error(ErrorKind kind, fmt::string_view format, fmt::format_args args) {
  throw Error(kind, fmt::vformat(format, args));
}

void assertion_failed(const char* condition, const char* file, int line) {
  fail(ErrorKind::kInternal, "{}:{}: '{}' does not hold; please report this", file, line,
       condition);
}

}  // namespace fovea
