#include "fovea/atlas/cell_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fovea/atlas/head_strips.h"
#include "fovea/atlas/pyramid.h"
#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::plain_case;
using support::shared_record_of;

std::shared_ptr<const AttentionRecord> three_heads(int64_t length, bool causal) {
  std::mt19937 random(3);
  AttentionCase c = plain_case(length, 8, causal, 3);
  c.shape.heads = 3;
  c.queries = support::random_heads(random, {3, length, 8}, 1.5, DType::kF32);
  return shared_record_of(c);
}

// Plainly from every cell of every head, in double.
struct NaiveMap {
  NaiveMap(const std::shared_ptr<const AttentionRecord>& given, const HeadChoice& choice,
           MapValue asked)
      : record(given), head(choice), value(asked) {
    for (int64_t h = 0; h < record->shape().heads; ++h) {
      const AttentionMap map(record, h);
      all.push_back(value == MapValue::kScore ? map.score_tile(map.whole())
                                              : map.tile(map.whole()));
    }
  }

  double of_head(int64_t h, int64_t i, int64_t j) const {
    const double cell = all[static_cast<size_t>(h)].matrix<float>()(i, j);
    const AttentionShape shape = record->shape();
    if (value == MapValue::kTimesEven) {
      int64_t keys = 0;
      for (int64_t k = 0; k < shape.cols; ++k) keys += record->rule.mask.allows(i, k) ? 1 : 0;
      return cell * static_cast<double>(keys);
    }
    if (value == MapValue::kValueWeighted) {
      double square = 0;
      for (int64_t d = 0; d < shape.value_dim; ++d) {
        const double v = record->values.matrix<float>(shape.kv_head(h))(j, d);
        square += v * v;
      }
      return cell * std::sqrt(square);
    }
    return cell;
  }

  double cell(int64_t i, int64_t j) const {
    if (head.kind == HeadChoice::Kind::kOne) return of_head(head.head, i, j);
    double sum = 0, max = of_head(0, i, j), min = max;
    for (int64_t h = 0; h < record->shape().heads; ++h) {
      const double each = of_head(h, i, j);
      sum += each;
      max = std::max(max, each);
      min = std::min(min, each);
    }
    return head.kind == HeadChoice::Kind::kMax   ? max
           : head.kind == HeadChoice::Kind::kMin ? min
                                                 : sum / static_cast<double>(record->shape().heads);
  }

  std::shared_ptr<const AttentionRecord> record;
  HeadChoice head;
  MapValue value;
  std::vector<Tensor> all;
};

struct Block {
  double sum = 0;
  double max = 0;
  int64_t count = 0;
};

Block block_of(const Region& region, const Mask& mask, double lowest, bool by_magnitude,
               const std::function<double(int64_t, int64_t)>& cell) {
  Block block{.max = lowest};
  for (int64_t i = region.row_begin; i < region.row_end; ++i) {
    for (int64_t j = region.col_begin; j < region.col_end; ++j) {
      if (!mask.allows(i, j)) continue;
      const double each = cell(i, j);
      ++block.count;
      block.sum += each;
      const bool larger = by_magnitude ? std::abs(each) > std::abs(block.max) : each > block.max;
      if (larger) block.max = each;
    }
  }
  return block;
}

// Every cell of every tile of every level.
void expect_pyramid(const std::shared_ptr<const CellSource>& source,
                    const std::function<double(int64_t, int64_t)>& cell) {
  const Pyramid pyramid(source, std::make_shared<TileCache>(size_t{64} << 20));
  for (int level = 0; level < pyramid.levels(); ++level) {
    const int64_t side = int64_t{1} << level;
    for (int64_t y = 0; y < pyramid.tile_rows(level); ++y) {
      for (int64_t x = 0; x < pyramid.tile_cols(level); ++x) {
        const auto tile = pyramid.tile(level, y, x);
        const Region region = pyramid.region(level, y, x);
        const Tensor count = source->allowed(region, side);
        for (int64_t r = 0; r < tile->max.size(0); r += 5) {
          for (int64_t c = 0; c < tile->max.size(1); c += 5) {
            const int64_t row = region.row_begin + r * side, col = region.col_begin + c * side;
            const Block wanted = block_of({row, std::min(row + side, region.row_end), col,
                                           std::min(col + side, region.col_end)},
                                          source->record().rule.mask, source->lowest(),
                                          source->by_magnitude(), cell);
            ASSERT_EQ(count.matrix<int64_t>()(r, c), wanted.count);
            if (wanted.count == 0) continue;
            // Floats of a few hundred cells, each within 2e-6 of what it should be.
            const double near = 1e-5 * (1 + std::abs(wanted.sum));
            ASSERT_NEAR(tile->sum.matrix<float>()(r, c), wanted.sum, near) << level;
            ASSERT_NEAR(tile->max.matrix<float>()(r, c), wanted.max, near) << level;
          }
        }
      }
    }
  }
}

TEST(CellSource, EveryValueOfEveryChoiceOfHeadsPoolsAsItsCellsDo) {
  for (const bool causal : {false, true}) {
    const auto record = three_heads(530, causal);
    using Kind = HeadChoice::Kind;
    for (const HeadChoice& head :
         {HeadChoice{.kind = Kind::kOne}, HeadChoice{.kind = Kind::kMean},
          HeadChoice{.kind = Kind::kMax}, HeadChoice{.kind = Kind::kMin}}) {
      for (const MapValue value :
           {MapValue::kWeight, MapValue::kTimesEven, MapValue::kScore, MapValue::kValueWeighted}) {
        const NaiveMap naive(record, head, value);
        expect_pyramid(cell_source(record, head, value),
                       [&](int64_t i, int64_t j) { return naive.cell(i, j); });
      }
    }
  }
}

TEST(CellSource, ADifferencePoolsByItsLargestMagnitude) {
  const auto a = shared_record_of(plain_case(300, 8, true, 4));
  const auto b = shared_record_of(plain_case(300, 8, true, 5));
  const HeadChoice head{.kind = HeadChoice::Kind::kOne};
  const NaiveMap first(a, head, MapValue::kWeight), second(b, head, MapValue::kWeight);
  expect_pyramid(difference_of(cell_source(a, head, MapValue::kWeight),
                               cell_source(b, head, MapValue::kWeight)),
                 [&](int64_t i, int64_t j) { return first.cell(i, j) - second.cell(i, j); });
}

TEST(CellSource, MapsOfTwoSizesHaveNoDifference) {
  const AttentionMap a(shared_record_of(plain_case(30, 8, true, 4)), 0);
  const AttentionMap b(shared_record_of(plain_case(31, 8, true, 4)), 0);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "30 x 30",
                         [&] { difference_of(cell_source(a), cell_source(b)); }));
}

TEST(CellSource, AFirstLookIsNearTheWholeAndNeverAboveItsLargest) {
  const auto record = three_heads(900, false);
  const HeadChoice mean{.kind = HeadChoice::Kind::kMean};
  const auto source = cell_source(record, mean, MapValue::kWeight);
  const Region whole{0, 900, 0, 900};
  const PyramidTile exact = source->pooled(whole, 64), look = source->sampled(whole, 64, 12);
  double total = 0;
  for (int64_t i = 0; i < exact.sum.elements(); ++i) {
    total += double{look.sum.values<float>()[static_cast<size_t>(i)]};
    EXPECT_LE(look.max.values<float>()[static_cast<size_t>(i)],
              exact.max.values<float>()[static_cast<size_t>(i)] + 1e-6F);
  }
  EXPECT_NEAR(total, 900, 1e-2);  // every row that is read sums to 1
}

TEST(HeadStrips, OfValuesThatWereNotCapturedSaySo) {
  AttentionRecord record = *shared_record_of(plain_case(20, 8, false, 7));
  record.values = {};
  const auto without = std::make_shared<const AttentionRecord>(record);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"of"}, "without values", [&] {
    HeadStrips(without, {.kind = HeadChoice::Kind::kMean}, MapValue::kValueWeighted);
  }));
}

}  // namespace
}  // namespace fovea
