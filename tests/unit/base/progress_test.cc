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

}  // namespace
}  // namespace fovea
