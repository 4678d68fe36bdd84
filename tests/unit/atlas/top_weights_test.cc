#include "fovea/atlas/top_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/attention_cases.h"
#include "support/records.h"

namespace fovea {
namespace {

std::vector<PositionGroup> words_of(int64_t count, int64_t size) {
  std::vector<PositionGroup> groups;
  for (int64_t i = 0; i < count; i += size) groups.push_back({i, std::min(i + size, count)});
  return groups;
}

struct NaiveCell {
  int64_t index = 0;
  double weight = 0, even = 0;
};

// Rows by mean and columns by sum of a dense map in double, and what even attention gives there.
NaiveCell naive_cell(const support::AttentionCase& c, const std::vector<double>& dense,
                     PositionGroup rows, PositionGroup cols, int64_t index) {
  NaiveCell cell{index};
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    double allowed = 0, here = 0;
    for (int64_t j = 0; j < c.shape.cols; ++j) {
      if (!c.rule.mask.allows(i, j)) continue;
      ++allowed;
      if (j < cols.begin || j >= cols.end) continue;
      ++here;
      cell.weight += dense[static_cast<size_t>(i * c.shape.cols + j)];
    }
    if (allowed > 0) cell.even += here / allowed;
  }
  cell.weight /= static_cast<double>(rows.size());
  cell.even /= static_cast<double>(rows.size());
  return cell;
}

// Cells that the mask forbids are left out. Weights of small cases in f32 are right to 1e-6.
void expect_top(const std::vector<TopWeight>& found, std::vector<NaiveCell> cells, size_t count) {
  std::erase_if(cells, [](const NaiveCell& cell) { return cell.even == 0; });
  ASSERT_EQ(found.size(), std::min(count, cells.size()));
  std::vector<double> weights;
  for (const NaiveCell& cell : cells) weights.push_back(cell.weight);
  std::ranges::sort(weights, std::ranges::greater());
  for (size_t rank = 0; rank < found.size(); ++rank) {
    EXPECT_NEAR(found[rank].weight, weights[rank], 5e-6);
    const auto own = std::ranges::find(cells, found[rank].index, &NaiveCell::index);
    ASSERT_NE(own, cells.end());
    EXPECT_NEAR(found[rank].weight, own->weight, 5e-6);
    EXPECT_NEAR(found[rank].times_even, own->weight / own->even, 2e-5 / own->even);
    if (rank > 0) {
      EXPECT_GE(found[rank - 1].weight, found[rank].weight);
    }
  }
}

TEST(TopWeights, AreThoseOfADenseMapInDouble) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const support::AttentionCase c = support::random_case(seed, 40, 1);
    SCOPED_TRACE(c.name);
    const auto record = support::shared_record_of(c);
    const auto dense = dense_attention(c);
    for (const int64_t size : {1, 3}) {
      const auto rows = words_of(c.shape.rows, size), cols = words_of(c.shape.cols, size);
      const HeadChoice head{HeadChoice::Kind::kOne, c.shape.heads - 1};
      const std::vector<double>& map = dense.weights.back();
      const auto tops = top_of_rows(record, head, rows, cols, 4);
      ASSERT_EQ(tops.size(), rows.size());
      for (size_t r = 0; r < rows.size(); ++r) {
        std::vector<NaiveCell> cells;
        for (size_t j = 0; j < cols.size(); ++j) {
          cells.push_back(naive_cell(c, map, rows[r], cols[j], static_cast<int64_t>(j)));
        }
        expect_top(tops[r], cells, 4);
      }
      std::vector<NaiveCell> column;
      for (size_t r = 0; r < rows.size(); ++r) {
        column.push_back(naive_cell(c, map, rows[r], cols[0], static_cast<int64_t>(r)));
      }
      expect_top(top_of_column(record, head, rows, cols[0], 4), column, 4);
    }
  }
}

// Strips of so long a map hold a few of its rows.
TEST(TopWeights, DoNotDependOnTheStripsTheyComeIn) {
  const auto record = support::shared_record_of(support::plain_case(2100, 8, true, /*seed=*/7));
  const HeadChoice head{HeadChoice::Kind::kOne, 0};
  const auto each = words_of(2100, 1);
  const auto all = top_of_rows(record, head, each, each, 3);
  ASSERT_EQ(all.size(), 2100U);
  EXPECT_EQ(all[0].size(), 1U) << "the first row sees itself alone";
  for (const int64_t row : {1, 498, 499, 500, 1000, 2099}) {
    const auto alone = top_of_rows(record, head, {{row, row + 1}}, each, 3).front();
    ASSERT_EQ(all[static_cast<size_t>(row)].size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(all[static_cast<size_t>(row)][i].index, alone[i].index) << row;
      EXPECT_NEAR(all[static_cast<size_t>(row)][i].weight, alone[i].weight, 1e-6) << row;
    }
  }
}

}  // namespace
}  // namespace fovea
