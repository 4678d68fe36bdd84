#include "fovea/base/process_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

namespace fovea {
namespace {

TEST(ProcessMemory, ThePeakGrowsWithWhatIsTouched) {
  if (!std::ifstream("/proc/self/status")) GTEST_SKIP() << "this system does not say";
  const uint64_t before = *peak_memory_bytes();
  constexpr uint64_t kBytes = 64 << 20;
  {
    const std::vector<char> touched(kBytes + before, 1);
    EXPECT_GE(*peak_memory_bytes(), kBytes);
  }
  // It is the most there ever was: giving memory back does not lower it.
  EXPECT_GE(*peak_memory_bytes(), before + kBytes);
}

TEST(ProcessMemory, SomeIsAvailableAndLessThanAMachineHas) {
  if (!std::ifstream("/proc/meminfo")) GTEST_SKIP() << "this system does not say";
  EXPECT_GT(*available_memory_bytes(), uint64_t{1} << 20);
  EXPECT_LT(*available_memory_bytes(), uint64_t{1} << 50);
}

}  // namespace
}  // namespace fovea
