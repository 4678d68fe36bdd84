// The one exception of the library. Its message is one line: what went wrong, both facts, what to
// do. Names from hostile files may hold line breaks and other control characters; the message shows
// them as escapes. The field that the error is about is kept beside the message, because each front
// end has its own word for it (--layer, layer=, {"field": "layer"}) and puts it in front.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace fovea {

enum class ErrorKind {
  kInvalidArgument,  // the caller asked for something that cannot be
  kNotFound,         // a file, model or name that is not there
  kBadFile,          // a file does not hold what it should
  kUnsupported,      // well formed, but fovea does not do it
  kIo,               // the system refused to read or write
  kOutOfMemory,      // what is asked for needs more memory than there is
  kBusy,             // somebody else holds what is needed; later it may work
  kCancelled,        // the caller asked to stop
  kInternal,         // our own bug
};

// How each front end reports a kind.
struct ErrorAnswer {
  std::string_view name;    // "bad file"
  int exit_code;            // the program's
  int http_status;          // the server's
  std::string_view python;  // the exception's class
};
ErrorAnswer answer_to(ErrorKind kind);

// The field of a question that an error is about, by its name there: "layer", "size".
struct Field {
  std::string_view name;
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : Error(kind, Field{}, message) {}
  Error(ErrorKind kind, Field field, const std::string& message);
  ErrorKind kind() const noexcept { return kind_; }
  // Empty if the error is about no field, or about several.
  const std::string& field() const noexcept { return field_; }

 private:
  ErrorKind kind_;
  std::string field_;
};

[[noreturn]] void throw_error(ErrorKind kind, Field field, fmt::string_view format,
                              fmt::format_args args);

// Throws Error{kind} with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw_error(kind, Field{}, format, fmt::make_format_args(args...));
}

// The same, about a field. The message does not repeat its name: "99 is no layer of this model".
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, Field field, fmt::format_string<Args...> format,
                       Args&&... args) {
  throw_error(kind, field, format, fmt::make_format_args(args...));
}

// Checks what only our own code can get wrong; bad input is refused by fail(). Off in release
// builds.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace fovea

#ifdef NDEBUG
#define FOVEA_ASSERT(condition) static_cast<void>(0)
#else
#define FOVEA_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::fovea::assertion_failed(#condition, __FILE__, __LINE__))
#endif
