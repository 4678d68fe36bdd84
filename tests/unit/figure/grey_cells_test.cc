// Columns of a short map that leave its colours.
#include "fovea/figure/grey_cells.h"

#include <gmock/gmock.h>

#include <limits>

#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr float kNo = std::numeric_limits<float>::quiet_NaN();

TEST(GreyCells, AreSpecialTokensWithTheirShare) {
  const Axis cols = samples::words({"[CLS]", "the", "cat", "[SEP]"});
  const Tensor weights =
      Tensor::from({2, 4}, std::vector<float>{0.5F, 0.25F, 0.25F, 0, 0, 0.5F, 0, 0.5F});
  const GreyCells grey = grey_cells(weights, cols, /*first_here=*/true);
  EXPECT_THAT(grey.columns, ElementsAre(0, 3));
  EXPECT_DOUBLE_EQ(grey.share, 0.5);
  std::vector<float> others;
  append_colored(weights, grey, others);
  EXPECT_THAT(others, ElementsAre(0.25F, 0.25F, 0.5F, 0));
  EXPECT_EQ(grey_names(cols, grey.columns), "[CLS], [SEP]");
  EXPECT_EQ(grey_cells_note("[CLS]", {0.39, 0, 0.91}),
            " · grey: [CLS], with 39 to 91 % of all weight, on a scale of their own");
  EXPECT_THAT(grey_cells_note("[CLS]", {0}), IsEmpty());
}

TEST(GreyCells, AFirstTokenIsASinkWhereItTakesTwiceItsEvenShare) {
  const Axis cols = samples::words({"The", "cat", "sat", "down"});
  const auto causal = [&](float first) {
    std::vector<float> values;
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 4; ++c) {
        const float rest = r == 0 ? 0 : (1 - first) / static_cast<float>(r);
        values.push_back(c > r ? kNo : r == 0 ? 1 : c == 0 ? first : rest);
      }
    }
    return Tensor::from({4, 4}, values);
  };
  // Even attention gives it (1 + 1/2 + 1/3 + 1/4) / 4 = 0.52.
  EXPECT_THAT(grey_cells(causal(0.4F), cols, true).columns, IsEmpty());
  const Tensor all_heads =
      Tensor::from({4, 4}, std::vector<float>{0.7F, 0.1F, 0.1F, 0.1F, 0.7F, 0.1F, 0.1F, 0.1F, 0.7F,
                                              0.1F, 0.1F, 0.1F, 0.7F, 0.1F, 0.1F, 0.1F});
  EXPECT_THAT(grey_cells(all_heads, cols, true).columns, ElementsAre(0));
  EXPECT_THAT(grey_cells(all_heads, cols, false).columns, IsEmpty());  // another part of the text
  EXPECT_EQ(grey_names(cols, {0}), "token 0");
}

TEST(GreyCells, AreNoneWhereNothingElseWouldBeLeft) {
  const Axis cols = samples::words({"[CLS]", "[SEP]"});
  const Tensor weights = Tensor::from({1, 2}, std::vector<float>{0.5F, 0.5F});
  EXPECT_THAT(grey_cells(weights, cols, true).columns, IsEmpty());
}

}  // namespace
}  // namespace fovea
