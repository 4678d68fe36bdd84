// The one exception of the library. A message is one line: what, both facts, what to do. Line
// breaks and other control characters, which names out of hostile files may hold, are shown as
// escapes.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace fovea {

enum class ErrorKind {
  kInvalidArgument,  // the caller asked for something that cannot be
  kNotFound,         // a file, model or name that is not there
  kBadFile,          // a file does not hold what it should
  kUnsupported,      // well formed, but fovea does not do it
  kIo,               // the system refused to read or write
  kCancelled,        // the caller asked to stop
  kInternal,         // our own bug
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

[[noreturn]] void throw_error(ErrorKind kind, fmt::string_view format, fmt::format_args args);

// Throws Error{kind} with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw_error(kind, format, fmt::make_format_args(args...));
}

// Checks what only our own code can get wrong; input is checked with fail(). Off in release builds.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace fovea

#ifdef NDEBUG
#define FOVEA_ASSERT(condition) static_cast<void>(0)
#else
#define FOVEA_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::fovea::assertion_failed(#condition, __FILE__, __LINE__))
#endif
