#include "fovea/base/team.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/base/watch.h"
#include "support/errors.h"

namespace fovea {
namespace {

class Team : public ::testing::Test {
 protected:
  void SetUp() override { set_thread_count(2); }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

int64_t sum_to(int64_t count) {
  std::atomic<int64_t> sum = 0;
  parallel_for(count, [&](int64_t i) { sum += i; });
  return sum;
}

// Has the team from when it is made until it dies.
class OtherWork {
 public:
  OtherWork()
      : thread_([this] {
          run_on_team([this] {
            begun_.count_down();
            done_.wait();
          });
        }) {
    begun_.wait();
  }
  ~OtherWork() { done_.count_down(); }

 private:
  std::latch begun_{1}, done_{1};
  std::jthread thread_;  // last: it ends before the latches do
};

// Threads of this process.
size_t alive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_F(Team, GivesBackWhatTheWorkGivesAndThrows) {
  EXPECT_EQ(run_on_team([] { return sum_to(100); }), 4950);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no",
                         [] { run_on_team([] { fail(ErrorKind::kBadFile, "no"); }); }));
}

TEST_F(Team, TheNumberOfThreadsIsTheSameForEveryCaller) {
  set_thread_count(3);
  std::thread([] { EXPECT_EQ(thread_count(), 3); }).join();
  std::thread([] { set_thread_count(2); }).join();
  EXPECT_EQ(thread_count(), 2);
  run_on_team([] { EXPECT_EQ(thread_count(), 2); });
}

TEST_F(Team, WorkKeepsTheThreadsItBeganWith) {
  run_on_team([] {
    set_thread_count(5);
    EXPECT_EQ(thread_count(), 2);
    EXPECT_EQ(sum_to(100), 4950);
  });
  EXPECT_EQ(thread_count(), 5);
}

TEST_F(Team, TenCallersHaveOneTeam) {
  sum_to(10);
  const size_t before = alive();
  constexpr int kCallers = 10;
  std::latch ready(kCallers), counted(1);
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) EXPECT_EQ(sum_to(1000), 499'500);
      EXPECT_EQ(run_on_team([] { return sum_to(1000); }), 499'500);
      ready.count_down();
      counted.wait();
    });
  }
  ready.wait();
  // Each caller is a thread, and none has brought others.
  EXPECT_LE(alive(), before + kCallers);
  counted.count_down();
  for (std::thread& caller : callers) caller.join();
}

TEST_F(Team, OnePieceOfWorkHasItAtATime) {
  std::atomic<int> at_work = 0;
  std::atomic<bool> alone = true;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        run_on_team([&] {
          if (++at_work != 1) alone = false;
          --at_work;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(alone);
}

TEST_F(Team, WhatShouldNotWaitIsDoneByItsCallerWhileOthersCompute) {
  std::optional<OtherWork> other(std::in_place);
  const auto here = std::this_thread::get_id();
  run_on_free_team([&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(thread_count(), 1);
  });
  EXPECT_EQ(sum_to(1000), 499'500);
  other.reset();
  run_on_free_team([&] { EXPECT_EQ(thread_count(), 2); });
}

TEST_F(Team, WorkThatIsCancelledWhileItWaitsDoesNotBegin) {
  std::optional<OtherWork> other(std::in_place);
  const CancelToken token;
  const WatchScope scope({.cancel = token});
  std::thread canceller([&] { token.cancel(); });
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "", [] { run_on_team([] { FAIL(); }); }));
  canceller.join();
  other.reset();
}

TEST_F(Team, WorkWithinWorkGoesOnAtOnce) {
  run_on_team([] {
    run_on_team([] { EXPECT_EQ(thread_count(), 2); });
    parallel_for(4, [](int64_t) { run_on_team([] { EXPECT_EQ(thread_count(), 1); }); });
  });
}

TEST_F(Team, AChildOfAForkWorksAlone) {
  EXPECT_EQ(sum_to(1000), 499'500);  // the team is there
  const pid_t child = ::fork();
  if (child == 0) {
    const bool right = thread_count() == 1 && sum_to(1000) == 499'500 &&
                       run_on_team([] { return sum_to(10); }) == 45;
    ::_exit(right ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(sum_to(1000), 499'500);
  EXPECT_EQ(thread_count(), 2);
}

TEST_F(Team, SingleThreadHoldsForItsThreadAlone) {
  const SingleThread single(true);
  EXPECT_EQ(thread_count(), 1);
  EXPECT_EQ(sum_to(100), 4950);
  std::thread([] { EXPECT_EQ(thread_count(), 2); }).join();
}

}  // namespace
}  // namespace fovea
