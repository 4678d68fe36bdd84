#include "fovea/base/apart.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "support/errors.h"

namespace fovea {
namespace {

class RunApart : public ::testing::Test {
 protected:
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

TEST_F(RunApart, CallsTheBodyOnceForEveryIndex) {
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    for (const int64_t count : {0, 1, 2, 7}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      run_apart(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      for (const auto& one : calls) EXPECT_EQ(one, 1);
    }
  }
}

TEST_F(RunApart, LoopsWithinUseOneThread) {
  set_thread_count(3);
  run_apart(6, [](int64_t) { EXPECT_EQ(thread_count(), 1); });
  EXPECT_EQ(thread_count(), 3);
}

TEST_F(RunApart, ThrowsTheFirstErrorByIndexWhenAllHaveRun) {
  set_thread_count(2);
  std::atomic<int> calls{0};
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "index 1", [&] {
    run_apart(5, [&](int64_t i) {
      ++calls;
      if (i == 1 || i == 4) fail(ErrorKind::kBadFile, "index {}", i);
    });
  }));
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace fovea
