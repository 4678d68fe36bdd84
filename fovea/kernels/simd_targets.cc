#include "fovea/kernels/simd_targets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "fovea/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/simd_targets.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(target_name);

// The static target always runs; Highway's list of what the machine has may leave it out.
std::vector<int64_t> usable_targets() {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (targets.empty() || targets.back() != HWY_STATIC_TARGET) targets.push_back(HWY_STATIC_TARGET);
  return targets;
}

void choose(int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace

std::vector<std::string> simd_targets() {
  // What the machine has, whatever was chosen last.
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const int64_t target : usable_targets()) result.emplace_back(hwy::TargetName(target));
    return result;
  }();
  return names;
}

std::string_view active_simd_target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

void use_simd_target(std::string_view name) {
  simd_targets();
  choose(0);
  if (name.empty()) return;
  for (const int64_t target : usable_targets()) {
    if (name == hwy::TargetName(target)) return choose(target);
  }
  std::string known;
  for (const std::string& target : simd_targets()) known += " " + target;
  fail(ErrorKind::kNotFound, "SIMD target '{}' is not to be had; this machine has{}", name, known);
}

void follow_isa_variable() {
  const char* wanted = std::getenv("FOVEA_ISA");
  if (wanted == nullptr || *wanted == '\0') return;
  const std::string_view name = wanted;
  const char* target = name == "avx2" ? "AVX2" : name == "sse4" ? "SSE4" : nullptr;
  if (target == nullptr) {
    fail(ErrorKind::kInvalidArgument, "FOVEA_ISA is '{}' but must be avx2 or sse4", name);
  }
  const std::vector<std::string> known = simd_targets();
  if (std::ranges::count(known, target) > 0) return use_simd_target(target);
  fail(ErrorKind::kNotFound,
       "FOVEA_ISA is {} but there are kernels for {} alone; build with -DFOVEA_SIMD=all, on a "
       "processor that has it",
       name, fmt::join(known, ", "));
}

}  // namespace fovea
#endif  // HWY_ONCE
