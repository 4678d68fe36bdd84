#include "fovea/atlas/pyramid.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/records.h"

namespace fovea {
namespace {

using support::plain_case;
using support::shared_record_of;

std::shared_ptr<TileCache> big_cache() {
  return std::make_shared<TileCache>(size_t{64} << 20);
}

TEST(Pyramid, TopLevelFitsOneTile) {
  const AttentionMap map(shared_record_of(plain_case(700, 8, false, 1)), 0);
  const Pyramid pyramid(map, big_cache());
  EXPECT_EQ(pyramid.levels(), 3);
  EXPECT_EQ(pyramid.tile_rows(0), 3);
  EXPECT_EQ(pyramid.tile_rows(2), 1);
  EXPECT_EQ(pyramid.tile(2, 0, 0)->max.shape(), (Shape{175, 175}));
}

TEST(Pyramid, EveryLevelEqualsPoolingTheWeights) {
  for (const bool causal : {false, true}) {
    const AttentionMap map(shared_record_of(plain_case(600, 16, causal, 2)), 0);
    const Pyramid pyramid(map, big_cache());
    const Tensor whole = map.tile(map.whole());
    for (int level = 0; level < pyramid.levels(); ++level) {
      for (int64_t y = 0; y < pyramid.tile_rows(level); ++y) {
        for (int64_t x = 0; x < pyramid.tile_cols(level); ++x) {
          const auto tile = pyramid.tile(level, y, x);
          const Region region = pyramid.region(level, y, x);
          const int64_t side = int64_t{1} << level;
          for (int64_t r = 0; r < tile->max.size(0); r += 3) {
            for (int64_t c = 0; c < tile->max.size(1); c += 3) {
              float largest = 0;
              double sum = 0;
              for (int64_t i = region.row_begin + r * side;
                   i < std::min(region.row_begin + (r + 1) * side, region.row_end); ++i) {
                for (int64_t j = region.col_begin + c * side;
                     j < std::min(region.col_begin + (c + 1) * side, region.col_end); ++j) {
                  largest = std::max(largest, whole.matrix<float>()(i, j));
                  sum += double{whole.matrix<float>()(i, j)};
                }
              }
              ASSERT_EQ(tile->max.matrix<float>()(r, c), largest) << level;
              ASSERT_NEAR(tile->sum.matrix<float>()(r, c), sum, 1e-5) << level;
            }
          }
        }
      }
    }
  }
}

// A map long enough that its top levels are composed of tiles below (level 7 of 32,800 rows),
// narrow in the other direction so that the test stays quick.
TEST(Pyramid, ComposedLevelsEqualDirectPooling) {
  std::mt19937 random(3);
  support::AttentionCase c;
  c.shape = {1, 1, 32800, 40, 8, 8};
  c.queries = support::random_heads(random, {1, 32800, 8}, 1, DType::kF32);
  c.keys = support::random_heads(random, {1, 40, 8}, 1, DType::kF32);
  c.values = support::random_heads(random, {1, 40, 8}, 1, DType::kF32);
  const AttentionMap map(shared_record_of(c), 0);
  const Pyramid pyramid(map, big_cache());
  ASSERT_EQ(pyramid.levels(), 9);
  const auto tile = pyramid.tile(8, 0, 0);
  const PooledTile direct = map.pooled(map.whole(), 256);
  ASSERT_EQ(tile->max.shape(), direct.max.shape());
  const Tensor mean = pyramid.mean(8, 0, 0);
  for (int64_t r = 0; r < tile->max.size(0); ++r) {
    ASSERT_EQ(tile->max.matrix<float>()(r, 0), direct.max.matrix<float>()(r, 0));
    // Sums of 256 rows are near 256; f32 holds them to 3e-5.
    ASSERT_NEAR(tile->sum.matrix<float>()(r, 0), direct.sum.matrix<float>()(r, 0), 1e-3);
    ASSERT_NEAR(mean.matrix<float>()(r, 0), 1.0 / 40, 1e-6);
  }
}

TEST(Pyramid, APlantedNeedleIsTheMaximumAtEveryZoom) {
  support::AttentionCase c = plain_case(900, 32, false, 6);
  // Key 511 becomes a large multiple of query 300.
  for (int64_t d = 0; d < 32; ++d) {
    c.keys.mutable_matrix<float>(0)(511, d) = 4 * c.queries.matrix<float>(0)(300, d);
  }
  const AttentionMap map(shared_record_of(c), 0);
  const Pyramid pyramid(map, big_cache());
  const float needle = map.cell(300, 511);
  EXPECT_GT(needle, 0.99F);
  for (int level = 0; level < pyramid.levels(); ++level) {
    const int64_t row = 300 >> level;
    const int64_t col = 511 >> level;
    const auto tile = pyramid.tile(level, row / 256, col / 256);
    EXPECT_GE(tile->max.matrix<float>()(row % 256, col % 256), needle) << level;
  }
}

TEST(Pyramid, RefusesTilesThatAreNotThere) {
  const AttentionMap map(shared_record_of(plain_case(300, 8, false, 1)), 0);
  const Pyramid pyramid(map, big_cache());
  EXPECT_THROW(pyramid.tile(-1, 0, 0), Error);
  EXPECT_THROW(pyramid.tile(pyramid.levels(), 0, 0), Error);
  EXPECT_THROW(pyramid.tile(0, 2, 0), Error);
  EXPECT_THROW(pyramid.tile(0, 0, -1), Error);
}

TEST(PyramidCache, ConcurrentReadersGetTheSameTiles) {
  const AttentionMap map(shared_record_of(plain_case(600, 8, true, 4)), 0);
  const Pyramid expected(map, big_cache());
  // Room for two tiles only, so that readers evict each other's.
  const Pyramid pyramid(map, std::make_shared<TileCache>(size_t{2} * 2 * 256 * 256 * 4));
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      for (int step = 0; step < 12; ++step) {
        const int level = (step + reader) % pyramid.levels();
        const int64_t y = step % pyramid.tile_rows(level);
        const auto found = pyramid.tile(level, y, 0);
        const auto wanted = expected.tile(level, y, 0);
        if (!std::ranges::equal(found->max.values<float>(), wanted->max.values<float>())) ++wrong;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace fovea
