#include "fovea/explain/pictures/attention_distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/explain/rollout.h"
#include "support/random.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::NaivePatches;

TEST(AttentionDistance, EqualsNaiveLoopsInBothForms) {
  const PictureAxis axis{{4, 7}, 2};
  LayerRecords layers;
  std::vector<AttentionCase> cases;
  for (uint32_t layer = 0; layer < 2; ++layer) {
    cases.push_back(support::picture_case(60 + layer, axis, 3));
    layers.push_back(support::shared_record_of(cases.back()));
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
      convolution_record(support::random_tensor({1, 10, 10}, 1), 3));
  const PictureAxis axis{{10, 10}, 0};
  EXPECT_NEAR(attention_distance(AttentionMap(record, 4), axis, 16), 0, 1e-6);
  // 90 of 100 pixels look one to the right; those at the edge look at themselves.
  EXPECT_NEAR(attention_distance(AttentionMap(record, 5), axis, 16), 16 * 0.9, 1e-4);
}

}  // namespace
}  // namespace fovea
