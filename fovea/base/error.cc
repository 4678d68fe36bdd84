#include "fovea/base/error.h"

#include <fmt/format.h>

#include "fovea/base/utf8.h"

namespace fovea {

ErrorAnswer answer_to(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return {"invalid argument", 2, 400, "ValueError"};
    case ErrorKind::kNotFound:
      return {"not found", 1, 404, "FileNotFoundError"};
    case ErrorKind::kBadFile:
      return {"bad file", 1, 422, "ValueError"};
    case ErrorKind::kUnsupported:
      return {"unsupported", 1, 422, "NotImplementedError"};
    case ErrorKind::kIo:
      return {"input or output", 1, 500, "OSError"};
    case ErrorKind::kOutOfMemory:
      return {"out of memory", 1, 507, "MemoryError"};
    case ErrorKind::kBusy:
      return {"busy", 1, 503, "fovea.Busy"};
    case ErrorKind::kCancelled:
      return {"cancelled", 1, 499, "fovea.Cancelled"};
    case ErrorKind::kInternal:
      break;
  }
  return {"internal", 1, 500, "RuntimeError"};
}

Error::Error(ErrorKind kind, Field field, const std::string& message)
    : std::runtime_error(to_one_line(message)), kind_(kind), field_(field.name) {}

void throw_error(ErrorKind kind, Field field, fmt::string_view format, fmt::format_args args) {
  throw Error(kind, field, fmt::vformat(format, args));
}

void assertion_failed(const char* condition, const char* file, int line) {
  fail(ErrorKind::kInternal, "{}:{}: '{}' does not hold; please report this", file, line,
       condition);
}

}  // namespace fovea
