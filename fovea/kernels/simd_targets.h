// Which SIMD instruction sets the kernels were compiled for and this machine has. A kernel picks
// the best one by itself; this is for reports and for tests that run them all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Highway's names, best first: "AVX3", "AVX2", "SSE4", "SCALAR" on a machine with AVX-512.
std::vector<std::string> simd_targets();
// The one that kernels use now.
std::string_view active_simd_target();
// From now on all kernels, in all threads, use this one; an empty name goes back to the best.
// Throws Error{kNotFound} for a name that simd_targets() does not have.
void use_simd_target(std::string_view name);
// The same by the variable FOVEA_ISA, "avx2" or "sse4", so that a machine with more can be measured
// as one with less; without it nothing changes. Throws Error{kInvalidArgument} for another value,
// and Error{kNotFound} where the machine or this build has no such kernels.
void follow_isa_variable();

}  // namespace fovea
