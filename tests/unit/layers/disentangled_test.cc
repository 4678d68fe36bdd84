#include "fovea/layers/disentangled.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/memory_source.h"

namespace fovea {
namespace {

// Entry e of the table holds the number e.
LayerSource counted_entries(int64_t entries) {
  Tensor table = Tensor::uninitialized({entries, 1});
  for (int64_t e = 0; e < entries; ++e) {
    table.mutable_values<float>()[static_cast<size_t>(e)] = static_cast<float>(e);
  }
  return {Weights(std::make_shared<MemorySource>(std::vector<NamedTensor>{{"weight", table}})),
          DType::kF32};
}

// The entry of every distance j - i from -(tokens - 1) on.
std::vector<int> entries_of(const RelativePositions& positions, int64_t tokens) {
  const RelativePositions::Entries entries = positions.entries(tokens);
  std::vector<int> found;
  for (const int32_t index : entries.index) {
    found.push_back(static_cast<int>(entries.rows.values<float>()[static_cast<size_t>(index)]));
  }
  return found;
}

TEST(RelativePositions, EachDistanceHasAnEntryUpToTheFarthest) {
  const RelativePositions positions(counted_entries(6), 1, 0, 3, std::nullopt);
  // Keys far behind their query have the last entry, those far ahead the first.
  EXPECT_EQ(entries_of(positions, 6), (std::vector<int>{5, 5, 5, 5, 4, 3, 2, 1, 0, 0, 0}));
  EXPECT_EQ(entries_of(positions, 1), (std::vector<int>{3}));
}

TEST(RelativePositions, FarDistancesShareAnEntry) {
  // Eight buckets: four distances to either side have their own, those up to 64 share the others.
  const RelativePositions positions(counted_entries(16), 1, 8, 64, std::nullopt);
  const std::vector<int> entries = entries_of(positions, 64);
  const auto at = [&](int64_t ahead) { return entries[static_cast<size_t>(63 - ahead)]; };
  for (int64_t ahead = -4; ahead <= 4; ++ahead) EXPECT_EQ(at(ahead), 8 + ahead);
  EXPECT_EQ(at(5), 13);
  EXPECT_EQ(at(9), 13);
  EXPECT_EQ(at(11), 14);
  EXPECT_EQ(at(63), 15);
  EXPECT_EQ(at(-63), 1);
}

TEST(DisentangledTerms, AreAListOrPartsOfAWord) {
  const auto terms = [](const char* text) {
    return DisentangledTerms::of(Config(Json::parse(text, "config.json"), "config.json"));
  };
  EXPECT_EQ(terms(R"({"pos_att_type": "p2c|c2p"})").count(), 2);
  EXPECT_TRUE(terms(R"({"pos_att_type": ["c2p"]})").content_to_position);
  EXPECT_EQ(terms(R"({"pos_att_type": null})").count(), 0);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "pos_att_type names 'p2p'",
                         [&] { terms(R"({"pos_att_type": "p2p"})"); }));
}

}  // namespace
}  // namespace fovea
