// Long answers are kept as their hash.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace fovea {

// FNV-1a, as the script that writes the answers has it.
inline std::string short_hash(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return fmt::format("{:08x}", static_cast<uint32_t>(hash));
}

}  // namespace fovea
