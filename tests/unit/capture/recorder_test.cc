#include "fovea/capture/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "support/records.h"

namespace fovea {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::plain_case;
using testing::record_of;

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

std::string refusal(const AttentionRecord& record) {
  try {
    validate(record);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AttentionRecord, IsCheckedWhole) {
  const AttentionRecord good = record_of(plain_case(6, 8, true, 1), {SiteKind::kEncoderSelf, 3});
  EXPECT_EQ(refusal(good), "");
  AttentionRecord bad = good;
  bad.lse = Tensor(Shape{1, 5}, DType::kF64);
  EXPECT_THAT(refusal(bad), HasSubstr("encoder_self.3: LSE is F64 [1, 5]"));
  bad = good;
  bad.keys = Tensor(Shape{1, 6, 7});
  EXPECT_THAT(refusal(bad), HasSubstr("K is"));
  bad = good;
  bad.queries = Tensor(Shape{6, 8});
  EXPECT_THAT(refusal(bad), HasSubstr("Q is"));
  bad = good;
  bad.values = Tensor(Shape{1, 5, 8});
  EXPECT_THAT(refusal(bad), HasSubstr("V is"));
  bad = good;
  bad.rule.scale = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(bad), HasSubstr("scale"));
  bad = good;
  bad.rule.mask.key_valid = {1, 1};
  EXPECT_THAT(refusal(bad), HasSubstr("2 entries but the attention needs 6"));
  bad = good;
  Tensor queries = good.queries.clone();
  queries.mutable_values<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  bad.queries = queries;
  EXPECT_THAT(refusal(bad), HasSubstr("NaN"));
  bad = good;
  bad.output_gradient = Tensor(Shape{1, 6, 7});
  EXPECT_THAT(refusal(bad), HasSubstr("output gradient"));
  bad = good;
  bad.block = BlockContext{.input = Tensor(Shape{6, 4}), .output_weight = Tensor(Shape{4, 9})};
  EXPECT_THAT(refusal(bad), HasSubstr("output weight"));
}

TEST(SiteId, NamesGoBothWays) {
  for (const char* name : {"self.0", "encoder_self.11", "decoder_self.2", "cross.5",
                           "vision.self.3", "text.self.1", "pool.0", "panoptic.0"}) {
    EXPECT_EQ(to_string(parse_site(name)), name);
  }
  for (const char* name : {"", "self", "self.", "self.-1", "self.x", "self.1x", "nowhere.1", ".3",
                           "self.99999999999999999999"}) {
    EXPECT_THROW(parse_site(name), Error) << name;
  }
}

}  // namespace
}  // namespace fovea
