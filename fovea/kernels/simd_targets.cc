#include "fovea/kernels/simd_targets.h"

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

}  // namespace fovea
#endif  // HWY_ONCE
