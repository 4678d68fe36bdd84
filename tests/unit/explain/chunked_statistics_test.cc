// Sums that have the same bits whoever counted which chunks.
#include "fovea/explain/chunked_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/errors.h"

namespace fovea {
namespace {

constexpr int64_t kChunk = ChunkedStatistics::kChunkInputs;
constexpr int64_t kGroup = ChunkedStatistics::kGroupChunks;

// What an input gives: numbers of its own, whose sums depend on their order.
void count(ChunkedStatistics& statistics, int64_t begin, int64_t end) {
  for (int64_t input = begin; input < end; ++input) {
    std::mt19937 random(static_cast<uint32_t>(input));
    std::uniform_real_distribution<double> number(0, 1e6);
    CorpusStatistics& chunk = statistics.at(input);
    for (int layer = 0; layer < 2; ++layer) {
      std::vector<HeadSums> heads(2);
      for (HeadSums& head : heads) head.entropy = number(random) / 3;
      chunk.add({SiteKind::kSelf, layer}, heads);
    }
    chunk.end_input();
  }
}

std::string bits(const ChunkedStatistics& statistics) {
  return statistics.total().to_json().dump();
}

ChunkedStatistics chunks_counted(int64_t begin, int64_t end) {
  ChunkedStatistics statistics;
  count(statistics, begin, end);
  return statistics;
}

TEST(ChunkedStatistics, PartsInAnyOrderHaveTheBitsOfTheWhole) {
  const int64_t inputs = (2 * kGroup + 3) * kChunk + 5;
  const std::string whole = bits(chunks_counted(0, inputs));
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::pair<int64_t, int64_t>> parts;
    for (int64_t begin = 0; begin < inputs;) {
      const int64_t end =
          std::min(inputs, begin + kChunk * (1 + static_cast<int64_t>(random() % 80)));
      parts.emplace_back(begin, end);
      begin = end;
    }
    std::ranges::shuffle(parts, random);
    ChunkedStatistics merged;
    for (const auto& [begin, end] : parts) merged.merge(chunks_counted(begin, end));
    EXPECT_TRUE(bits(merged) == whole);
    // Groups that are complete are one row, whatever came first.
    EXPECT_TRUE(merged.to_json().dump() == chunks_counted(0, inputs).to_json().dump());
  }
}

TEST(ChunkedStatistics, TheTotalIsNotThatOfOneLongSum) {
  // Else the test above would say nothing about the order.
  ChunkedStatistics chunks = chunks_counted(0, 3 * kChunk);
  CorpusStatistics line;
  for (int64_t begin = 0; begin < 3 * kChunk; ++begin) {
    line.merge(chunks_counted(begin, begin + 1).total());
  }
  EXPECT_NE(bits(chunks), line.to_json().dump());
  EXPECT_NEAR(chunks.total().sums(1, 1).entropy, line.sums(1, 1).entropy, 1e-6);
}

TEST(ChunkedStatistics, GoesOnFromAFileAnywhere) {
  const int64_t inputs = kGroup * kChunk + 300;
  const std::string whole = bits(chunks_counted(0, inputs));
  for (const int64_t stop :
       {int64_t{1}, kChunk - 1, kChunk, kGroup * kChunk, kGroup * kChunk + 77}) {
    const Json kept = Json::parse(chunks_counted(0, stop).to_json().dump(), "a file");
    ChunkedStatistics later = ChunkedStatistics::from_json(kept, "a file");
    count(later, stop, inputs);
    EXPECT_TRUE(bits(later) == whole) << stop;
  }
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "a file", [] {
    ChunkedStatistics::from_json(Json::parse("{\"groups\": -1}", "x"), "a file");
  }));
}

TEST(ChunkedStatistics, TheOpenChunkGoesOnAfterAMerge) {
  const std::string whole = bits(chunks_counted(0, 5 * kChunk));
  ChunkedStatistics statistics = chunks_counted(0, kChunk + 50);
  statistics.merge(chunks_counted(2 * kChunk, 4 * kChunk));
  count(statistics, kChunk + 50, 2 * kChunk);
  count(statistics, 4 * kChunk, 5 * kChunk);
  EXPECT_TRUE(bits(statistics) == whole);
}

TEST(ChunkedStatistics, PartsOfOneChunkAreRefusedAndNothingChanges) {
  const ChunkedStatistics full = chunks_counted(0, (kGroup + 1) * kChunk);
  for (const ChunkedStatistics& other :
       {chunks_counted(5, 6), full, chunks_counted(kGroup * kChunk, kGroup * kChunk + 1)}) {
    ChunkedStatistics statistics = full;
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "count them in one part",
                           [&] { statistics.merge(other); }));
    EXPECT_TRUE(statistics.to_json().dump() == full.to_json().dump());
  }
  ChunkedStatistics half = chunks_counted(kChunk, kChunk + 50);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "inputs from 128 to 255",
                         [&] { half.merge(chunks_counted(kChunk + 50, 2 * kChunk)); }));
}

}  // namespace
}  // namespace fovea
