#include "fovea/base/process_memory.h"

#include <fstream>
#include <string>
#include <string_view>

namespace fovea {
namespace {

// A line "name:   123 kB" of one of the system's files.
std::optional<uint64_t> bytes_of(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    uint64_t kilobytes = 0;
    if (word == name && lines >> kilobytes) return kilobytes * 1024;
    lines.ignore(1 << 16, '\n');
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> peak_memory_bytes() {
  // Not getrusage(), which begins with what the parent had when it forked.
  return bytes_of("/proc/self/status", "VmHWM:");
}

std::optional<uint64_t> available_memory_bytes() {
  return bytes_of("/proc/meminfo", "MemAvailable:");
}

}  // namespace fovea
