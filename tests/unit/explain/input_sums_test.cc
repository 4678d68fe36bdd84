#include "fovea/explain/input_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fovea {
namespace {

using ::testing::ElementsAre;

Tensor counted(const Shape& shape) {
  Tensor tensor(shape);
  float next = 0;
  for (float& value : tensor.mutable_values<float>()) value = next++;
  return tensor;
}

TEST(PositionSums, AreOverTheWidthOfEmbeddings) {
  const InputGradient input{.name = "inputs_embeds", .values = Tensor({3, 2})};
  EXPECT_THAT(position_sums(input, counted({3, 2})), ElementsAre(1, 5, 9));
  EXPECT_THROW(position_sums(input, counted({2, 3})), Error);
}

TEST(PositionSums, AreOverPatchesInAllChannelsWithoutWhatIsLeftOver) {
  // 4 x 5 pixels in patches of 2 x 2: the last column belongs to none.
  const InputGradient input{.values = Tensor({2, 4, 5}),
                            .grid_rows = 2,
                            .grid_cols = 2,
                            .cell_height = 2,
                            .cell_width = 2};
  const auto patch = [](double corner) {  // of both channels, 20 apart
    return 2 * (corner + corner + 1 + corner + 5 + corner + 6) + 4 * 20;
  };
  EXPECT_THAT(position_sums(input, counted({2, 4, 5})),
              ElementsAre(patch(0), patch(2), patch(10), patch(12)));
}

TEST(PositionSums, OfSoundAreOverBandsAndFrames) {
  const InputGradient input{
      .values = Tensor({2, 6}), .grid_rows = 1, .grid_cols = 3, .cell_height = 2, .cell_width = 2};
  EXPECT_THAT(position_sums(input, counted({2, 6})), ElementsAre(14, 22, 30));
}

}  // namespace
}  // namespace fovea
