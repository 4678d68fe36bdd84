#include "fovea/atlas/tile_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "fovea/base/watch.h"
#include "support/errors.h"

namespace fovea {
namespace {

PyramidTile tile_of(float value) {
  Tensor tensor(Shape{10, 10});
  for (float& cell : tensor.mutable_values<float>()) cell = value;
  return {tensor, tensor};
}

TileKey key(int64_t x) {
  return {1, 0, 0, x};
}

TEST(TileCache, ComputesATileOnce) {
  TileCache cache(1 << 20);
  int computed = 0;
  const auto compute = [&] {
    ++computed;
    return tile_of(3);
  };
  const auto first = cache.get(key(0), compute);
  const auto second = cache.get(key(0), compute);
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(first, second);
  EXPECT_EQ(cache.bytes(), 800U);
}

TEST(TileCache, ForgetsTheLeastRecentlyUsedTile) {
  TileCache cache(3 * 800);
  int computed = 0;
  const auto compute = [&] {
    ++computed;
    return tile_of(0);
  };
  for (int64_t x = 0; x < 3; ++x) cache.get(key(x), compute);
  cache.get(key(0), compute);  // now 1 is the oldest
  cache.get(key(3), compute);
  EXPECT_EQ(computed, 4);
  EXPECT_EQ(cache.bytes(), 3U * 800);
  cache.get(key(0), compute);
  EXPECT_EQ(computed, 4);
  cache.get(key(1), compute);
  EXPECT_EQ(computed, 5);
}

TEST(TileCache, NeverHoldsMoreThanItsLimit) {
  TileCache cache(500);
  const auto tile = cache.get(key(0), [] { return tile_of(1); });
  EXPECT_EQ(tile->max.values<float>()[0], 1);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(TileCache, AFailedComputationIsNotKept) {
  TileCache cache(1 << 20);
  EXPECT_THROW(cache.get(key(0), []() -> PyramidTile { fail(ErrorKind::kInternal, "no"); }), Error);
  EXPECT_EQ(cache.get(key(0), [] { return tile_of(2); })->max.values<float>()[0], 2);
}

TEST(TileCache, ConcurrentRequestsShareOneComputation) {
  TileCache cache(1 << 20);
  std::atomic<int> computed{0};
  constexpr int kThreads = 8;
  std::latch everyone(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      everyone.arrive_and_wait();
      for (int64_t x = 0; x < 50; ++x) {
        const auto tile = cache.get(key(x), [&] {
          ++computed;
          return tile_of(static_cast<float>(x));
        });
        EXPECT_EQ(tile->max.values<float>()[99], static_cast<float>(x));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(computed.load(), 50);
}

TEST(TileCache, AWaiterComputesWhenTheOtherIsCancelled) {
  TileCache cache(1 << 20);
  std::latch started(1);
  std::latch waiting(1);
  const CancelToken first_cancel;
  std::thread first([&] {
    const WatchScope scope({.cancel = first_cancel});
    EXPECT_THROW(cache.get(key(0),
                           [&]() -> PyramidTile {
                             started.count_down();
                             waiting.wait();
                             first_cancel.cancel();
                             check_cancelled();
                             return tile_of(0);
                           }),
                 Error);
  });
  started.wait();
  std::thread second([&] {
    waiting.count_down();  // joins the first or computes after it; both must give a tile
    EXPECT_EQ(cache.get(key(0), [] { return tile_of(7); })->max.values<float>()[0], 7);
  });
  first.join();
  second.join();
}

TEST(TileCache, AWaiterThatIsCancelledLeavesTheOtherAlone) {
  TileCache cache(1 << 20);
  std::latch started(1), left(1);
  std::thread first([&] {
    const auto tile = cache.get(key(0), [&] {
      started.count_down();
      left.wait();  // this tile is never there before the other has left
      return tile_of(7);
    });
    EXPECT_EQ(tile->max.values<float>()[0], 7);
  });
  started.wait();
  const CancelToken cancel;
  std::thread canceller([&] { cancel.cancel(); });
  {
    const WatchScope scope({.cancel = cancel});
    EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "",
                           [&] { cache.get(key(0), [] { return tile_of(1); }); }));
  }
  left.count_down();
  first.join();
  canceller.join();
}

}  // namespace
}  // namespace fovea
