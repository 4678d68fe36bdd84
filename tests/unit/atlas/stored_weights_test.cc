// Everything that a map offers, of records that hold weights: against plain loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/atlas/merged_map.h"
#include "fovea/atlas/pyramid.h"
#include "support/errors.h"
#include "support/stored_record.h"

namespace fovea {
namespace {

using support::random_weights;
using support::stored_record;

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64};

// A row longer than the blocks of column sums, and rows that are no multiple of theirs.
Tensor weights_as(DType dtype) {
  return convert(random_weights({3, 101, 530}, 5, /*sum=*/0.8), dtype);
}

double cell_of(const Tensor& doubles, int64_t head, int64_t row, int64_t col) {
  return doubles.matrix<double>(head)(row, col);
}

TEST(StoredWeights, AreReadAsTheyAre) {
  for (const DType dtype : kTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    const Tensor weights = weights_as(dtype), doubles = convert(weights, DType::kF64);
    const auto record = stored_record(weights);
    validate(*record);
    for (int64_t head = 0; head < 3; ++head) {
      const AttentionMap map(record, head);
      const Tensor part = map.tile({7, 90, 33, 400});
      for (int64_t r = 7; r < 90; ++r) {
        for (int64_t c = 33; c < 400; ++c) {
          ASSERT_EQ(part.matrix<float>()(r - 7, c - 33),
                    static_cast<float>(cell_of(doubles, head, r, c)));
        }
      }
      const std::vector<float> row = map.row(100), column = map.column(529);
      for (int64_t c = 0; c < 530; ++c) {
        ASSERT_EQ(row[size_t(c)], static_cast<float>(cell_of(doubles, head, 100, c)));
      }
      for (int64_t r = 0; r < 101; ++r) {
        ASSERT_EQ(column[size_t(r)], static_cast<float>(cell_of(doubles, head, r, 529)));
      }
      EXPECT_EQ(map.cell(100, 529), row[529]);
      const std::vector<ColumnWeight> top = map.row_top(100, 3);
      ASSERT_EQ(top.size(), 3U);
      EXPECT_EQ(top.front().weight, *std::ranges::max_element(row));
      EXPECT_EQ(row[size_t(top[2].column)], top[2].weight);
    }
  }
}

TEST(StoredWeights, AreSummedInDouble) {
  for (const DType dtype : kTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    const Tensor weights = weights_as(dtype), doubles = convert(weights, DType::kF64);
    const AttentionMap map(stored_record(weights), 1);
    std::vector<double> rows_taken, column_sums(530), taken(530), entropy(101);
    for (int64_t r = 0; r < 101; ++r) {
      rows_taken.push_back(r % 3 == 0 ? 0 : 0.1 * double(r));
      for (int64_t c = 0; c < 530; ++c) {
        const double weight = cell_of(doubles, 1, r, c);
        column_sums[size_t(c)] += weight;
        taken[size_t(c)] += rows_taken.back() * weight;
        if (weight > 0) entropy[size_t(r)] -= weight * std::log(weight);
      }
    }
    const std::vector<double> found = map.column_sums(), left = map.times_left(rows_taken),
                              found_entropy = map.entropy();
    // Sums over 48 rows are in f32.
    for (size_t c = 0; c < 530; ++c) {
      ASSERT_NEAR(found[c], column_sums[c], 1e-6);
      ASSERT_NEAR(left[c], taken[c], 1e-5);
    }
    for (size_t r = 0; r < 101; ++r) ASSERT_NEAR(found_entropy[r], entropy[r], 1e-6);
    Tensor x({530, 2});
    for (int64_t c = 0; c < 530; ++c) {
      x.mutable_matrix<float>()(c, 0) = 1;
      x.mutable_matrix<float>()(c, 1) = float(c % 7) - 3;
    }
    const Tensor right = map.times_right(x);
    for (int64_t r = 0; r < 101; ++r) {
      double sum = 0, other = 0;
      for (int64_t c = 0; c < 530; ++c) {
        sum += cell_of(doubles, 1, r, c);
        other += cell_of(doubles, 1, r, c) * double(c % 7 - 3);
      }
      ASSERT_NEAR(right.matrix<float>()(r, 0), sum, 1e-6);
      ASSERT_NEAR(right.matrix<float>()(r, 1), other, 1e-6);
    }
  }
}

TEST(StoredWeights, ArePooledInBlocksOfAnySize) {
  const Tensor weights = weights_as(DType::kF32), doubles = convert(weights, DType::kF64);
  const AttentionMap map(stored_record(weights), 2);
  const Region part{5, 98, 11, 517};
  for (const int64_t bin : {1, 3, 20, 64, 600}) {
    SCOPED_TRACE(bin);
    const PooledTile pooled = map.pooled(part, bin);
    const SampledTile all = map.sampled(part, bin, std::max<int64_t>(bin, 2));
    for (int64_t r = 0; r < blocks_of(part.rows(), bin); ++r) {
      for (int64_t c = 0; c < blocks_of(part.cols(), bin); ++c) {
        double largest = 0, sum = 0;
        int64_t count = 0;
        for (int64_t i = r * bin; i < std::min((r + 1) * bin, part.rows()); ++i) {
          for (int64_t j = c * bin; j < std::min((c + 1) * bin, part.cols()); ++j, ++count) {
            const double weight = cell_of(doubles, 2, part.row_begin + i, part.col_begin + j);
            largest = std::max(largest, weight);
            sum += weight;
          }
        }
        ASSERT_EQ(pooled.max.matrix<float>()(r, c), static_cast<float>(largest));
        ASSERT_NEAR(pooled.sum.matrix<float>()(r, c), sum, 1e-5);
        ASSERT_EQ(pooled.count.matrix<int64_t>()(r, c), count);
        ASSERT_EQ(all.max.matrix<float>()(r, c), static_cast<float>(largest));
        ASSERT_NEAR(all.sum.matrix<float>()(r, c), sum, 1e-5);
        ASSERT_EQ(all.error.matrix<float>()(r, c), 0);
      }
    }
  }
}

TEST(StoredWeights, HaveAPyramid) {
  const Tensor weights = weights_as(DType::kF16), doubles = convert(weights, DType::kF64);
  const Pyramid pyramid(AttentionMap(stored_record(weights), 0),
                        std::make_shared<TileCache>(size_t{1} << 24));
  ASSERT_EQ(pyramid.levels(), 3);
  const auto top = pyramid.tile(2, 0, 0);
  double largest = 0, sum = 0;
  for (int64_t r = 96; r < 100; ++r) {
    for (int64_t c = 4; c < 8; ++c) {
      largest = std::max(largest, cell_of(doubles, 0, r, c));
      sum += cell_of(doubles, 0, r, c);
    }
  }
  EXPECT_EQ(top->max.matrix<float>()(24, 1), static_cast<float>(largest));
  EXPECT_NEAR(top->sum.matrix<float>()(24, 1), sum, 1e-6);
}

TEST(StoredWeights, AreMergedByHeadsAndGroups) {
  const Tensor weights = weights_as(DType::kF32), doubles = convert(weights, DType::kF64);
  const auto record = stored_record(weights);
  const std::vector<PositionGroup> rows{{0, 4}, {4, 5}, {5, 101}}, cols{{0, 100}, {100, 530}};
  const MergedMap mean = merged_map(record, {HeadChoice::Kind::kMean}, rows, cols, Merge::kWords);
  const MergedMap even = merged_map(record, {HeadChoice::Kind::kOne, 1}, rows, cols, Merge::kWords,
                                    MapValue::kTimesEven);
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < cols.size(); ++c) {
      double sum = 0, of_one = 0;
      for (int64_t i = rows[r].begin; i < rows[r].end; ++i) {
        for (int64_t j = cols[c].begin; j < cols[c].end; ++j) {
          for (int64_t head = 0; head < 3; ++head) sum += cell_of(doubles, head, i, j) / 3;
          of_one += cell_of(doubles, 1, i, j);
        }
      }
      const auto count = static_cast<double>(rows[r].size());
      EXPECT_NEAR(mean.weights.matrix<float>()(int64_t(r), int64_t(c)), sum / count, 1e-6);
      EXPECT_NEAR(even.weights.matrix<float>()(int64_t(r), int64_t(c)),
                  of_one / count * 530 / static_cast<double>(cols[c].size()), 1e-5);
    }
  }
  for (const double sum : mean.row_sums) EXPECT_NEAR(sum, 0.8, 1e-5);
  const MergedMap pooled = pooled_map(record, 1, 40, Merge::kWords);
  for (const double sum : pooled.row_sums) EXPECT_NEAR(sum, 0.8, 1e-5);
}

TEST(StoredWeights, UnderAMaskCountWhatARowMaySee) {
  Tensor weights({1, 6, 6});
  for (int64_t r = 0; r < 6; ++r) {
    for (int64_t c = 0; c <= r; ++c) {
      weights.mutable_matrix<float>(0)(r, c) = 1 / static_cast<float>(r + 1);
    }
  }
  const auto record = stored_record(weights, Mask::causal());
  const std::vector<PositionGroup> pairs{{0, 2}, {2, 4}, {4, 6}};
  const MergedMap even = merged_map(record, {HeadChoice::Kind::kOne, 0}, pairs, pairs,
                                    Merge::kWords, MapValue::kTimesEven);
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 3; ++c) {
      const float x = even.weights.matrix<float>()(r, c);
      if (c > r) {
        EXPECT_TRUE(std::isnan(x));
      } else {
        EXPECT_NEAR(x, 1, 1e-6);
      }
    }
  }
}

TEST(StoredWeights, HaveNoScoresValuesOrGradients) {
  const auto record = stored_record(random_weights({2, 4, 4}, 1), {}, {SiteKind::kSelf, 3});
  const AttentionMap map(record, 0);
  const std::vector<PositionGroup> all{{0, 4}};
  const auto merged = [&](MapValue value) {
    return [&, value] {
      merged_map(record, {HeadChoice::Kind::kMean}, all, all, Merge::kWords, value);
    };
  };
  constexpr std::string_view kNoQueries = "self.3 is an array of weights without the queries";
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, kNoQueries, [&] {
    map.score_tile({0, 1, 0, 1});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, kNoQueries, merged(MapValue::kScore)));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, kNoQueries, [&] { inputs_of(*record); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"of"},
                         "self.3 is an array of weights without values",
                         merged(MapValue::kValueWeighted)));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "without values", [&] {
    map.gradient_tile({0, 1, 0, 1});
  }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "no head 2", [&] { AttentionMap(record, 2); }));
}

}  // namespace
}  // namespace fovea
