// Heads as kernels, how far they look, and a layer that is a convolution.
#include "fovea/explain/pictures/offset_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/explain/pictures/attention_distance.h"
#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/explain/pictures/receptive_field.h"
#include "support/random.h"
#include "unit/base/test_support.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

using testing::AttentionCase;

// Weights between patches in double, by head.
struct NaivePatches {
  PictureAxis axis;
  testing::DenseAttention dense;

  NaivePatches(const AttentionCase& c, const PictureAxis& a) : axis(a), dense(dense_attention(c)) {}
  double weight(size_t head, int64_t i, int64_t j) const {
    return dense.weights[head][size_t((axis.specials + i) * axis.positions() + axis.specials + j)];
  }
  double given(size_t head, int64_t i) const {
    double sum = 0;
    for (int64_t j = 0; j < axis.grid.patches(); ++j) sum += weight(head, i, j);
    return sum;
  }
};

TEST(OffsetKernel, EqualsNaiveLoopsUnderBothBorderRules) {
  const PictureAxis axis{{6, 9}, 3};
  const AttentionCase c = testing::picture_case(21, axis, 2);
  const NaivePatches naive(c, axis);
  const auto record = testing::shared_record_of(c);
  for (const BorderRule border : {BorderRule::kWholeWindow, BorderRule::kEachOffset}) {
    for (size_t head = 0; head < 2; ++head) {
      const OffsetKernel kernel =
          offset_kernel(AttentionMap(record, int64_t(head)), axis, {.radius = 2, .border = border});
      for (int64_t dr = -2; dr <= 2; ++dr) {
        for (int64_t dc = -2; dc <= 2; ++dc) {
          double sum = 0;
          int64_t count = 0;
          for (int64_t r = 0; r < 6; ++r) {
            for (int64_t col = 0; col < 9; ++col) {
              const bool whole = r >= 2 && r < 4 && col >= 2 && col < 7;
              if (border == BorderRule::kWholeWindow && !whole) continue;
              if (r + dr < 0 || r + dr >= 6 || col + dc < 0 || col + dc >= 9) continue;
              const int64_t i = r * 9 + col;
              sum += naive.weight(head, i, (r + dr) * 9 + col + dc) / naive.given(head, i);
              ++count;
            }
          }
          // Weights are within 1e-6 (docs/numerics.md), their mean too.
          ASSERT_NEAR(kernel.weights(dr + 2, dc + 2), sum / double(count), 1e-6);
        }
      }
      EXPECT_EQ(kernel.queries, border == BorderRule::kWholeWindow ? 10 : 54);
    }
  }
}

TEST(OffsetKernel, OfAHeadThatLooksDownAndLeftIsOneCell) {
  const AttentionRecord record = convolution_record(testing::random_tensor({2, 8, 8}, 1), 3);
  const auto shared = std::make_shared<const AttentionRecord>(record);
  const PictureAxis axis{{8, 8}, 0};
  const OffsetKernel kernel = offset_kernel(AttentionMap(shared, 6), axis);  // offset (+1, -1)
  ASSERT_EQ(kernel.radius, 2);
  // exp(-60) is nothing in f32.
  EXPECT_NEAR(kernel.weights(3, 1), 1, 1e-6);
  EXPECT_NEAR(kernel.inside, 1, 1e-6);
  EXPECT_NEAR(kernel.centre_row, 1, 1e-6);
  EXPECT_NEAR(kernel.centre_col, -1, 1e-6);
  EXPECT_NEAR(kernel.spread, 0, 1e-3);  // the root of a difference of numbers that are off by 1e-6
  EXPECT_EQ(kernel.level50, kernel.weights(3, 1));
  EXPECT_EQ(kernel.level90, kernel.weights(3, 1));
}

TEST(OffsetKernel, CentreSpreadAndLevelsAreThoseOfItsWeights) {
  const PictureAxis axis{{7, 7}, 1};
  const auto record = testing::shared_record_of(testing::picture_case(5, axis, 1));
  const OffsetKernel kernel = offset_kernel(AttentionMap(record, 0), axis, {.radius = 1});
  double sum = 0, row = 0, col = 0, square = 0;
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 3; ++c) {
      sum += kernel.weights(r, c);
      row += kernel.weights(r, c) * double(r - 1);
      col += kernel.weights(r, c) * double(c - 1);
    }
  }
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t c = 0; c < 3; ++c) {
      square += kernel.weights(r, c) / sum *
                (std::pow(double(r - 1) - row / sum, 2) + std::pow(double(c - 1) - col / sum, 2));
    }
  }
  EXPECT_NEAR(kernel.inside, sum, 1e-12);  // the same terms in another order
  EXPECT_NEAR(kernel.centre_row, row / sum, 1e-12);
  EXPECT_NEAR(kernel.centre_col, col / sum, 1e-12);
  EXPECT_NEAR(kernel.spread, std::sqrt(square), 1e-9);
  EXPECT_GE(kernel.level50, kernel.level90);
}

TEST(OffsetKernel, MassLevelIsTheSmallestWeightOfTheSmallestSet) {
  const std::vector<double> weights{.05, .30, .10, .20, .35};
  EXPECT_EQ(mass_level(weights, 0.3), .35);
  EXPECT_EQ(mass_level(weights, 0.5), .30);
  EXPECT_EQ(mass_level(weights, 0.65), .30);
  EXPECT_EQ(mass_level(weights, 0.9), .10);
  EXPECT_EQ(mass_level(weights, 1), .05);
  EXPECT_EQ(mass_level(std::vector<double>{0, 0}, 0.5), 0);
}

TEST(OffsetKernel, NeedsAWindowThatFitsThePicture) {
  const PictureAxis axis{{4, 6}, 1};
  const AttentionMap map(testing::shared_record_of(testing::picture_case(5, axis, 1)), 0);
  const auto refuses = [&](const KernelOptions& options) {
    return fails_with(ErrorKind::kInvalidArgument, "4 x 6",
                      [&] { offset_kernel(map, axis, options); });
  };
  EXPECT_TRUE(refuses({.radius = 2}));
  EXPECT_TRUE(refuses({.radius = -1}));
  EXPECT_TRUE(refuses({.radius = 6, .border = BorderRule::kEachOffset}));
  EXPECT_EQ(
      offset_kernel(map, axis, {.radius = 5, .border = BorderRule::kEachOffset}).weights(0, 0),
      0);  // no two patches are 5 rows apart
  EXPECT_EQ(offset_kernel(map, axis).radius, 1);
  EXPECT_TRUE(fails_cleanly([&] { offset_kernel(map, PictureAxis{{4, 5}, 1}); }));
}

TEST(AttentionDistance, EqualsNaiveLoopsInBothForms) {
  const PictureAxis axis{{4, 7}, 2};
  LayerRecords layers;
  std::vector<AttentionCase> cases;
  for (uint32_t layer = 0; layer < 2; ++layer) {
    cases.push_back(testing::picture_case(60 + layer, axis, 3));
    layers.push_back(testing::shared_record_of(cases.back()));
  }
  const Matrix distances = attention_distances(layers, axis, 8);
  const Matrix keras = attention_distances(layers, axis, 8, DistanceForm::kKeras);
  for (size_t layer = 0; layer < 2; ++layer) {
    const NaivePatches naive(cases[layer], axis);
    for (size_t head = 0; head < 3; ++head) {
      double renormalised = 0, biased = 0;
      for (int64_t i = 0; i < 28; ++i) {
        double moment = 0;
        for (int64_t j = 0; j < 28; ++j) {
          moment += naive.weight(head, i, j) * 8 *
                    std::hypot(double(i / 7 - j / 7), double(i % 7 - j % 7));
        }
        biased += moment / 28;
        renormalised += moment / naive.given(head, i) / 28;
      }
      // Weights within 1e-6 of themselves, distances up to 54 pixels.
      EXPECT_NEAR(distances(int64_t(layer), int64_t(head)), renormalised, 1e-4);
      EXPECT_NEAR(keras(int64_t(layer), int64_t(head)), biased, 1e-4);
      EXPECT_LT(biased, renormalised);
    }
  }
}

TEST(AttentionDistance, OfAHeadThatLooksOnePatchAwayIsAboutOnePatch) {
  const auto record = std::make_shared<const AttentionRecord>(
      convolution_record(testing::random_tensor({1, 10, 10}, 1), 3));
  const PictureAxis axis{{10, 10}, 0};
  EXPECT_NEAR(attention_distance(AttentionMap(record, 4), axis, 16), 0, 1e-6);
  // 90 of 100 pixels look one to the right; those at the edge look at themselves.
  EXPECT_NEAR(attention_distance(AttentionMap(record, 5), axis, 16), 16 * 0.9, 1e-4);
}

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
      convolution_record(testing::random_tensor({1, 15, 15}, 1), 3));
  const LayerRecords layers(3, record);
  const PictureAxis axis{{15, 15}, 0};
  const auto fields = receptive_fields(layers, axis, 7 * 15 + 7, 16);
  ASSERT_EQ(fields.size(), 3U);
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

double naive_convolution(const Tensor& pixels, const Tensor& kernel, int64_t out, int64_t row,
                         int64_t col) {
  const int64_t side = kernel.size(2);
  double sum = 0;
  for (int64_t c = 0; c < pixels.size(0); ++c) {
    for (int64_t r = 0; r < side; ++r) {
      for (int64_t k = 0; k < side; ++k) {
        // At the border the nearest pixel inside, as softmax takes it.
        const int64_t y = std::clamp<int64_t>(row + r - side / 2, 0, pixels.size(1) - 1);
        const int64_t x = std::clamp<int64_t>(col + k - side / 2, 0, pixels.size(2) - 1);
        const int64_t at = (c * pixels.size(1) + y) * pixels.size(2) + x;
        const int64_t weight = ((out * pixels.size(0) + c) * side + r) * side + k;
        sum += double{pixels.values<float>()[size_t(at)]} *
               double{kernel.values<float>()[size_t(weight)]};
      }
    }
  }
  return sum;
}

TEST(ConvolutionHeads, NineHeadsAreAThreeByThreeConvolution) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{12, 17}, {40, 32}, {3, 3}}) {
    const Tensor pixels = testing::random_tensor({3, rows, cols}, 11);
    const Tensor kernel = testing::random_tensor({5, 3, 3, 3}, 12, 0.3F);
    const AttentionRecord record = convolution_record(pixels, 3);
    validate(record);
    const Tensor out = mix_heads(record, {rows, cols}, kernel);
    ASSERT_EQ(out.shape(), (Shape{5, rows, cols}));
    for (int64_t o = 0; o < 5; ++o) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
          // 27 products of f32; inside of the border this is the convolution.
          ASSERT_NEAR(out.values<float>()[size_t((o * rows + r) * cols + c)],
                      naive_convolution(pixels, kernel, o, r, c), 1e-5)
              << o << ' ' << r << ' ' << c;
        }
      }
    }
  }
}

TEST(ConvolutionHeads, RefuseWhatIsNoConvolution) {
  const Tensor pixels = testing::random_tensor({3, 4, 4}, 1);
  EXPECT_TRUE(fails_cleanly([&] { convolution_record(pixels, 2); }));
  EXPECT_TRUE(fails_cleanly([&] { convolution_record(pixels, 3, 0); }));
  EXPECT_TRUE(fails_cleanly([] { convolution_record(Tensor({4, 4}), 3); }));
  const AttentionRecord record = convolution_record(pixels, 3);
  EXPECT_TRUE(fails_cleanly([&] { mix_heads(record, {4, 4}, Tensor({2, 3, 5, 5})); }));
  EXPECT_TRUE(fails_cleanly([&] { mix_heads(record, {4, 5}, Tensor({2, 3, 3, 3})); }));
}

}  // namespace
}  // namespace fovea
