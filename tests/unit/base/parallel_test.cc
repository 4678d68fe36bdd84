#include "fovea/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "support/errors.h"

namespace fovea {
namespace {

// Sets the thread count for one scope.
class ScopedThreads {
 public:
  explicit ScopedThreads(int count) : old_(thread_count()) { set_thread_count(count); }
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;
  ~ScopedThreads() { set_thread_count(old_); }

 private:
  int old_;
};

TEST(ParallelFor, CallsTheBodyOnceForEveryIndex) {
  for (const int threads : {1, 2, 4}) {
    const ScopedThreads scope(threads);
    for (const int64_t count : {0, 1, 2, 3, 1000}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, " << count);
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count) + 1);
      parallel_for(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
      for (int64_t i = 0; i < count; ++i) EXPECT_EQ(calls[static_cast<size_t>(i)], 1);
      EXPECT_EQ(calls.back(), 0);
    }
  }
}

TEST(ParallelFor, ANegativeCountDoesNothing) {
  parallel_for(-3, [](int64_t) { FAIL(); });
}

TEST(ParallelFor, AnExceptionOfABodyLeavesTheLoop) {
  for (const int threads : {1, 3}) {
    const ScopedThreads scope(threads);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "index 5", [] {
      parallel_for(100, [](int64_t i) {
        if (i == 5) fail(ErrorKind::kBadFile, "index {}", i);
      });
    }));
    EXPECT_THROW(parallel_for(2, [](int64_t) { throw std::logic_error("all"); }), std::logic_error);
    std::atomic<int> calls = 0;
    parallel_for(10, [&](int64_t) { ++calls; });  // works again afterwards
    EXPECT_EQ(calls, 10);
  }
}

TEST(ParallelFor, NestedLoopsCoverAllAndUseOneThread) {
  const ScopedThreads scope(2);
  std::vector<std::atomic<int>> calls(20 * 30);
  parallel_for(20, [&](int64_t outer) {
    EXPECT_EQ(thread_count(), 1);
    parallel_for(30, [&](int64_t inner) { ++calls[static_cast<size_t>(outer * 30 + inner)]; });
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, AnExceptionOfANestedLoopLeavesBoth) {
  const ScopedThreads scope(2);
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "inner", [] {
    parallel_for(
        4, [](int64_t) { parallel_for(4, [](int64_t) { fail(ErrorKind::kCancelled, "inner"); }); });
  }));
}

TEST(SetThreadCount, RefusesFewerThanOne) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "0 threads", [] { set_thread_count(0); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "-1 threads", [] { set_thread_count(-1); }));
  const ScopedThreads scope(3);
  EXPECT_EQ(thread_count(), 3);
}

}  // namespace
}  // namespace fovea
