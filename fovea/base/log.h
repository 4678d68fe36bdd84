// Log messages for people who want to see what fovea does. Results and errors do not go here.
// Messages go to stderr, from the level in the environment variable FOVEA_LOG on (debug, info,
// warn, off).
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace fovea {

enum class LogLevel { kDebug, kInfo, kWarn };

bool log_enabled(LogLevel level);
void log_message(LogLevel level, const std::string& message);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fovea
