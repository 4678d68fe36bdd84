// Runs a test body once for every SIMD target of this machine.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "fovea/kernels/simd_targets.h"

namespace fovea::support {

// `body` takes nothing. The best target is in use again afterwards.
template <typename Body>
void for_each_simd_target(Body&& body) {
  struct Restore {
    ~Restore() { use_simd_target(""); }
  } restore;
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE("SIMD target " + target);
    use_simd_target(target);
    body();
  }
}

}  // namespace fovea::support
