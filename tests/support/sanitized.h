// A sanitizer makes numeric tests some twenty times slower. There, long ones take fewer cases of
// the same kinds: wrong memory shows in few, and wrong numbers are the business of the release
// build.
#pragma once

#include <cstddef>

namespace fovea::support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// How many of `all` cases a test takes.
constexpr size_t cases(size_t all) {
  return kSanitized ? all / 4 : all;
}

}  // namespace fovea::support
