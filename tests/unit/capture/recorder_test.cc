#include "fovea/capture/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "support/records.h"

namespace fovea {
namespace {

using support::plain_case;
using support::record_of;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST(Recorder, GivesRecordsInTheOrderOfTheirSites) {
  Recorder recorder;
  for (const int layer : {2, 0, 1}) {
    recorder.add(record_of(plain_case(4, 8, false, 1), {SiteKind::kSelf, layer}));
  }
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 3U);
  for (int layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(records[static_cast<size_t>(layer)]->site.layer, layer);
  }
  EXPECT_TRUE(recorder.take().empty());
}

TEST(Recorder, AsksWhichSitesAreWanted) {
  const Recorder all;
  EXPECT_TRUE(all.wants({SiteKind::kCross, 3}));
  const Recorder some({.wanted = [](SiteId site) { return site.kind == SiteKind::kSelf; }});
  EXPECT_TRUE(some.wants({SiteKind::kSelf, 3}));
  EXPECT_FALSE(some.wants({SiteKind::kCross, 3}));
}

TEST(Recorder, RefusesASiteTwice) {
  Recorder recorder;
  recorder.add(record_of(plain_case(4, 8, false, 1)));
  EXPECT_THROW(recorder.add(record_of(plain_case(4, 8, false, 1))), Error);
}

TEST(Recorder, WhatDoesNotFitIntoMemoryIsTheSameInAFile) {
  const AttentionRecord first = record_of(plain_case(40, 8, false, 1), {SiteKind::kSelf, 0});
  const AttentionRecord second = record_of(plain_case(40, 8, false, 2), {SiteKind::kSelf, 1});
  Recorder recorder({.in_memory = spilled_bytes(first)});
  recorder.add(first);
  recorder.add(second);
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0]->queries.raw(), first.queries.raw());
  EXPECT_NE(records[1]->queries.raw(), second.queries.raw());
  EXPECT_EQ(records[1]->lse.raw(), second.lse.raw());  // small, and read often
  for (const auto part :
       {&AttentionRecord::queries, &AttentionRecord::keys, &AttentionRecord::values}) {
    EXPECT_THAT(((*records[1]).*part).values<float>(),
                ElementsAreArray((second.*part).values<float>()));
  }
}

TEST(Recorder, TakesRecordsFromManyThreads) {
  Recorder recorder;
  const AttentionRecord record = record_of(plain_case(4, 8, false, 1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int layer = 0; layer < 25; ++layer) {
        AttentionRecord copy = record;
        copy.site = {SiteKind::kSelf, t * 25 + layer};
        recorder.add(std::move(copy));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.take().size(), 100U);
}

}  // namespace
}  // namespace fovea
