#include "fovea/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace fovea {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
  }
  return spdlog::level::off;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = spdlog::stderr_color_mt("fovea");
    made->set_pattern("%^%l%$: %v");
    const char* wanted = std::getenv("FOVEA_LOG");
    const std::string name = wanted == nullptr ? "warn" : wanted;
    const auto level = spdlog::level::from_str(name);
    // Names that it does not know are "off" to spdlog; a slip must not silence warnings.
    const bool known = level != spdlog::level::off || name == "off";
    made->set_level(known ? level : spdlog::level::warn);
    return made;
  }();
  return *instance;
}

}  // namespace

bool log_enabled(LogLevel level) {
  return logger().should_log(to_spdlog(level));
}

void log_message(LogLevel level, const std::string& message) {
  logger().log(to_spdlog(level), message);
}

}  // namespace fovea
