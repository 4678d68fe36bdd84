// Numbers as they lie in files: little-endian, at any alignment.
#pragma once

#include <bit>
#include <cstring>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

static_assert(std::endian::native == std::endian::little,
              "files are little-endian and tensors borrow their bytes unchanged");

// The caller has checked that offset + sizeof(T) lies within `bytes`.
template <typename T>
T load_little_endian(Bytes bytes, size_t offset) {
  FOVEA_ASSERT(offset <= bytes.size() && bytes.size() - offset >= sizeof(T));
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void append_little_endian(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace fovea
