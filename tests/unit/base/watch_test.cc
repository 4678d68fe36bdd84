#include "fovea/base/watch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "fovea/base/apart.h"
#include "fovea/base/parallel.h"
#include "support/errors.h"

namespace fovea {
namespace {

bool is_cancelled() {
  return fails_with(ErrorKind::kCancelled, "cancelled", [] { check_cancelled(); });
}

TEST(CancelToken, CopiesShareOneFlag) {
  const CancelToken token;
  const CancelToken copy = token;
  EXPECT_FALSE(copy.cancelled());
  token.cancel();
  EXPECT_TRUE(copy.cancelled());
  EXPECT_FALSE(CancelToken().cancelled());
}

TEST(WatchScope, WorkStopsInItAndNotAfterIt) {
  const CancelToken token;
  EXPECT_NO_THROW(check_cancelled());
  {
    const WatchScope scope({.cancel = token});
    EXPECT_NO_THROW(check_cancelled());
    token.cancel();
    EXPECT_TRUE(is_cancelled());
  }
  EXPECT_NO_THROW(check_cancelled());
}

TEST(WatchScope, WithinAnotherEitherStopsIt) {
  const CancelToken outer, inner;
  const WatchScope one({.cancel = outer});
  {
    const WatchScope two({.cancel = inner});
    EXPECT_FALSE(cancel_asked());
    inner.cancel();
    EXPECT_TRUE(cancel_asked());
  }
  EXPECT_FALSE(cancel_asked());
  outer.cancel();
  const WatchScope three({});
  EXPECT_TRUE(cancel_asked());
}

TEST(InScope, OfNothingFinishesWhatIsCancelled) {
  const CancelToken token;
  token.cancel();
  const WatchScope scope({.cancel = token});
  {
    const InScope none(nullptr);
    EXPECT_NO_THROW(check_cancelled());
  }
  EXPECT_TRUE(is_cancelled());
}

TEST(WatchScope, StopsLoopsOfAllThreads) {
  for (const auto& loop : {parallel_for, run_apart}) {
    const CancelToken token;
    const WatchScope scope({.cancel = token});
    std::atomic<int> calls = 0;
    EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "", [&] {
      loop(10'000, [&](int64_t) {
        if (++calls == 3) token.cancel();
      });
    }));
    EXPECT_LT(calls, 10'000);
  }
}

}  // namespace
}  // namespace fovea
