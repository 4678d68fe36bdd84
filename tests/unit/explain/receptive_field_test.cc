#include "fovea/explain/pictures/receptive_field.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/explain/rollout.h"
#include "support/errors.h"
#include "support/random.h"

namespace fovea {
namespace {

TEST(ReceptiveField, RadiusHoldsItsShareOfTheMassAroundAPatch) {
  const GridShape grid{5, 5};
  std::vector<double> weights(25, 0.0);
  weights[12] = 4;                                           // the middle
  weights[7] = weights[11] = weights[13] = weights[17] = 1;  // distance 1
  weights[0] = 2;                                            // distance sqrt 8
  EXPECT_EQ(mass_radius(grid, weights, 12, 0.4), 0);
  EXPECT_EQ(mass_radius(grid, weights, 12, 0.5), 1);
  EXPECT_EQ(mass_radius(grid, weights, 12, 0.8), 1);
  EXPECT_EQ(mass_radius(grid, weights, 12, 0.9), std::sqrt(8));
  EXPECT_EQ(mass_radius(grid, std::vector<double>(25, 0.0), 12, 0.9), 0);
  EXPECT_TRUE(fails_cleanly([&] { mass_radius(grid, weights, 25, 0.9); }));
  EXPECT_TRUE(fails_cleanly([&] { mass_radius(grid, weights, 12, 0); }));
  EXPECT_TRUE(fails_cleanly([&] { mass_radius({5, 6}, weights, 12, 0.5); }));
}

TEST(ReceptiveField, OfALayerThatIsAConvolutionGrowsByOnePatchPerLayer) {
  // The mean of the nine heads is a box blur, and half of it the pixel itself.
  const auto record = std::make_shared<const AttentionRecord>(
      convolution_record(support::random_tensor({1, 15, 15}, 1), 3));
  const LayerRecords layers(3, record);
  const PictureAxis axis{{15, 15}, 0};
  std::vector<ReceptiveField> fields;
  for (const size_t depth : {1, 2, 3}) {
    const auto row = rollout(std::span(layers).first(depth), 7 * 15 + 7);
    fields.push_back(receptive_field(axis, row, 7 * 15 + 7, 16));
  }
  // After one layer: 1/2 + 1/18 at distance 0, 4/18 at 1, 4/18 at sqrt 2.
  EXPECT_EQ(fields[0].radius50, 0);
  EXPECT_NEAR(fields[0].radius90, 16 * std::sqrt(2), 1e-12);
  EXPECT_NEAR(fields[0].grid_mass, 1, 1e-6);
  // Nothing lies outside of the convolutions' own field of depth patches each way.
  const auto row = rollout(layers, 7 * 15 + 7);
  for (int64_t patch = 0; patch < 225; ++patch) {
    const bool inside = std::abs(patch / 15 - 7) <= 3 && std::abs(patch % 15 - 7) <= 3;
    if (inside) {
      EXPECT_GT(row[size_t(patch)], 0);
    } else {
      EXPECT_NEAR(row[size_t(patch)], 0, 1e-12);
    }
  }
  EXPECT_GE(fields[2].radius90, fields[1].radius90);
}

TEST(ReceptiveField, LooksAtPatchesOnly) {
  const PictureAxis axis{{2, 2}, 1};
  const ReceptiveField field = receptive_field(axis, std::vector<double>{.5, .3, .2, 0, 0}, 0, 16);
  EXPECT_NEAR(field.grid_mass, 0.5, 1e-15);
  EXPECT_EQ(field.radius50, 0);
  EXPECT_EQ(field.radius90, 16);
  EXPECT_TRUE(fails_cleanly([&] { receptive_field(axis, std::vector<double>(4), 0); }));
}

}  // namespace
}  // namespace fovea
