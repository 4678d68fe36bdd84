#include "fovea/base/progress.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// "work 2/3", and "." where a stage ends.
struct Heard {
  std::vector<std::string> stages;

  Watch watch() {
    return {.cancel = {}, .progress = [this](const Stage& stage) {
              stages.push_back(stage.ended
                                   ? "."
                                   : fmt::format("{} {}/{}", stage.title, stage.done, stage.total));
            }};
  }
};

TEST(Progress, TellsTheScopeItIsIn) {
  Heard heard;
  {
    const WatchScope scope(heard.watch());
    Progress progress("work", 3);
    progress.advance();
    progress.advance(2);
    progress.advance(-1);
  }
  EXPECT_THAT(heard.stages,
              testing::ElementsAre("work 0/3", "work 1/3", "work 3/3", "work 2/3", "."));
}

TEST(Progress, WhatIsBegunWithinAStageIsAPartOfIt) {
  Heard heard;
  {
    const WatchScope scope(heard.watch());
    Progress outer("outer", 1);
    const WatchScope within({});  // listens to nothing itself
    { Progress("inner", 5).advance(); }
    run_on_team([] { Progress("elsewhere", 5).advance(); });
    outer.advance();
  }
  EXPECT_THAT(heard.stages, testing::ElementsAre("outer 0/1", "outer 1/1", "."));
}

TEST(Progress, OneStageComesAfterTheOther) {
  Heard heard;
  {
    const WatchScope scope(heard.watch());
    { const Progress first("a", 1); }
    run_on_team([] { const Progress second("b", 1); });
  }
  EXPECT_THAT(heard.stages, testing::ElementsAre("a 0/1", ".", "b 0/1", "."));
}

TEST(Progress, WithoutAScopeNobodyHears) {
  testing::internal::CaptureStderr();
  Progress("work", 3).advance();
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
