#include "fovea/base/progress.h"

#include <gtest/gtest.h>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

TEST(Progress, WritesNothingWhenStderrIsNoTerminal) {
  testing::internal::CaptureStderr();  // into a file, as in a pipe
  {
    Progress progress("work", 1000);
    for (int i = 0; i < 1000; ++i) progress.advance();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, CountsFromAllThreads) {
  Progress progress("work", 500);
  parallel_for(250, [&](int64_t) { progress.advance(2); });
  EXPECT_EQ(progress.done(), 500);
  EXPECT_EQ(progress.total(), 500);
}

TEST(Progress, WorkOfNoStepsHasATotalThatCanBeDividedBy) {
  EXPECT_EQ(Progress("nothing", 0).total(), 1);
  EXPECT_EQ(Progress("nothing", -5).total(), 1);
}

TEST(FormatBytes, KeepsNumbersShort) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(999), "999 bytes");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(99'940), "99.9 kB");
  EXPECT_EQ(format_bytes(99'960), "100 kB");
  EXPECT_EQ(format_bytes(999'600), "1.0 MB");
  EXPECT_EQ(format_bytes(4'370'000'000), "4.4 GB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "18446744 TB");
}

}  // namespace
}  // namespace fovea
