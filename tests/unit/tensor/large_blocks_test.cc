#include "fovea/tensor/large_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace fovea {
namespace {

constexpr size_t kBytes = 5 * kHugePage / 2;  // rounded to three pages

TEST(LargeBlocks, NewMemoryIsAlignedWritableAndZero) {
  const std::shared_ptr<std::byte> block = allocate_large(kBytes, /*zero=*/true);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % kHugePage, 0U);
  EXPECT_TRUE(std::all_of(block.get(), block.get() + kBytes,
                          [](std::byte value) { return value == std::byte{0}; }));
  std::fill_n(block.get(), kBytes, std::byte{7});
}

TEST(LargeBlocks, AFreedBlockIsGivenToTheNextOfItsSize) {
  std::shared_ptr<std::byte> first = allocate_large(kBytes, false);
  std::fill_n(first.get(), kBytes, std::byte{7});
  const std::byte* place = first.get();
  first.reset();
  EXPECT_GE(kept_bytes(), kBytes);
  const std::shared_ptr<std::byte> other = allocate_large(kBytes + 2 * kHugePage, false);
  EXPECT_NE(other.get(), place);
  const std::shared_ptr<std::byte> second = allocate_large(kBytes - 1, /*zero=*/true);
  EXPECT_EQ(second.get(), place);
  // Memory asked for as zero is zero, whoever had it before.
  EXPECT_TRUE(std::all_of(second.get(), second.get() + kBytes - 1,
                          [](std::byte value) { return value == std::byte{0}; }));
}

TEST(LargeBlocks, OnlySoMuchIsKept) {
  std::vector<std::shared_ptr<std::byte>> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(allocate_large(kBytes, false));
  blocks.clear();
  EXPECT_LE(kept_bytes(), kMostKeptBytes);
  EXPECT_GT(kept_bytes(), kMostKeptBytes / 2);
  const size_t before = kept_bytes();
  allocate_large(kMostKeptBytes + 1, false).reset();
  EXPECT_EQ(kept_bytes(), before);
}

TEST(LargeBlocks, MoreThanThereIsGivesNothing) {
  EXPECT_EQ(allocate_large(std::numeric_limits<size_t>::max(), false), nullptr);
  EXPECT_EQ(allocate_large(std::numeric_limits<size_t>::max() / 2, false), nullptr);
}

TEST(LargeBlocks, ThreadsNeverShareABlock) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 50; ++i) {
        const std::shared_ptr<std::byte> block = allocate_large(2 * kHugePage, false);
        std::fill_n(block.get(), 4096, static_cast<std::byte>(t));
        wrong[t] +=
            static_cast<int>(std::count_if(block.get(), block.get() + 4096, [t](std::byte value) {
              return value != static_cast<std::byte>(t);
            }));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(LargeBlocks, WhatARunHasUsedIsKeptForItsNextTensors) {
  const size_t block = kMostKeptBytes / 2 + kHugePage;
  {
    const ReuseLargeBlocks reuse;
    auto a = allocate_large(block, false), b = allocate_large(block, false);
    const std::byte* place = a.get();
    a.reset();
    b.reset();
    EXPECT_EQ(kept_bytes(), 2 * block);
    b = allocate_large(block, false);
    a = allocate_large(block, false);
    EXPECT_EQ(a.get(), place);
    EXPECT_EQ(kept_bytes(), 0U);
  }
  EXPECT_LE(kept_bytes(), kMostKeptBytes);
}

TEST(LargeBlocks, OtherSizesPushOutWhatIsKept) {
  const size_t block = kMostKeptBytes + kHugePage;
  const ReuseLargeBlocks reuse;
  auto a = allocate_large(block, false), b = allocate_large(block, false);
  a.reset();
  EXPECT_EQ(kept_bytes(), block);
  // Now as much is in use as at most before, so no more than the usual amount stays kept.
  const auto other = allocate_large(block + kHugePage, false);
  EXPECT_LE(kept_bytes(), kMostKeptBytes);
}

}  // namespace
}  // namespace fovea
