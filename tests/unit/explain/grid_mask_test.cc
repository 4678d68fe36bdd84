#include "fovea/explain/pictures/grid_mask.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "support/errors.h"

namespace fovea {
namespace {

GridMask mask_of(const std::vector<std::string>& rows) {
  GridMask mask({static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.front().size())});
  size_t cell = 0;
  for (const std::string& row : rows) {
    for (const char c : row) mask.cells[cell++] = c == '#' ? 1 : 0;
  }
  return mask;
}

TEST(GridMask, PartsConnectAlongEdgesOnly) {
  const GridMask mask = mask_of({"##..", ".#.#", "..#."});
  EXPECT_EQ(component_of(mask, 0), mask_of({"##..", ".#..", "...."}));
  EXPECT_EQ(component_of(mask, 7), mask_of({"....", "...#", "...."}));
  EXPECT_EQ(component_of(mask, 10), mask_of({"....", "....", "..#."}));
}

TEST(GridMask, RowsDoNotRunOnIntoTheNextOne) {
  const GridMask mask = mask_of({"..#", "#.."});
  EXPECT_EQ(component_of(mask, 2).count(), 1);
}

TEST(GridMask, ASeedOutsideOfTheMaskHasNoPartAndOneOutsideOfTheGridIsRefused) {
  const GridMask mask = mask_of({"#.", ".."});
  EXPECT_EQ(component_of(mask, 3).count(), 0);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 x 2", [&] { component_of(mask, 4); }));
}

TEST(GridMask, TheLargestPartIsFoundAndTheFirstOfEquals) {
  EXPECT_EQ(largest_component(mask_of({"#.##", "...#"})), mask_of({"..##", "...#"}));
  EXPECT_EQ(largest_component(mask_of({"#.#", "#.#"})), mask_of({"#..", "#.."}));
  EXPECT_EQ(largest_component(mask_of({"..", ".."})).count(), 0);
}

TEST(GridMask, TheBoxIsTheSmallestThatHoldsTheMask) {
  EXPECT_EQ(box_of(mask_of({"....", "..#.", ".#.."})), (GridBox{1, 1, 3, 3}));
  EXPECT_EQ(box_of(mask_of({"...", "..."})), GridBox{});
}

TEST(GridMask, PartsOfRandomMasksEqualARecursiveFill) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    GridMask mask({1 + int64_t(random() % 9), 1 + int64_t(random() % 9)});
    for (uint8_t& cell : mask.cells) cell = random() % 2;
    const int64_t seed = int64_t(random()) % mask.grid.patches();
    GridMask filled(mask.grid);
    const std::function<void(int64_t, int64_t)> fill = [&](int64_t r, int64_t c) {
      if (r < 0 || c < 0 || r >= mask.grid.rows || c >= mask.grid.cols) return;
      const auto cell = size_t(r * mask.grid.cols + c);
      if (mask.cells[cell] == 0 || filled.cells[cell] != 0) return;
      filled.cells[cell] = 1;
      fill(r - 1, c), fill(r + 1, c), fill(r, c - 1), fill(r, c + 1);
    };
    fill(mask.grid.row_of(seed), mask.grid.col_of(seed));
    EXPECT_EQ(component_of(mask, seed), filled);
  }
}

}  // namespace
}  // namespace fovea
