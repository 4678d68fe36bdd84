#include "fovea/engine/picture_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "fovea/checkpoint/weight_layers.h"
#include "fovea/vision/decode.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

std::string bundled(std::string_view name) {
  return (test_data("../../models") / name).lexically_normal().string();
}

const Engine& scenes() {
  static const Engine kEngine = Engine::open(bundled("scenes-vit"));
  return kEngine;
}

Picture scene() {
  return read_picture(bundled("scenes-vit") + "/demo/scene-1.png").picture;
}

TEST(PictureInput, HasAnAxisOfPatchesThatThePictureIsCutInto) {
  const PictureInput input = picture_input(scenes(), scene());
  EXPECT_EQ(input.input.inputs.pixel_values.shape(), Shape({3, 224, 224}));
  EXPECT_EQ(input.input.patches.positions.size(), 785U);
  EXPECT_EQ(input.input.patches.grid_rows, 28);
  EXPECT_TRUE(input.input.patches.positions[0].special);
  EXPECT_EQ(input.grid.patch_of_pixel(223, 223), 783);
  EXPECT_EQ(input.picture.size(), (PictureSize{224, 224}));
  EXPECT_EQ(cover_of(input).rows, 28);
  EXPECT_EQ(cover_of(input).cols, 28);
}

TEST(PictureInput, OtherSizesAreCutToWholePatches) {
  const PictureInput input = picture_input(scenes(), scene(), PictureSize{100, 47});
  EXPECT_EQ(input.input.inputs.pixel_values.shape(), Shape({3, 40, 96}));
  EXPECT_EQ(input.grid.rows(), 5);
  EXPECT_EQ(input.grid.columns(), 12);
}

TEST(PictureInput, ItsRunKeepsASmallCopyOfWhatWasSeen) {
  const PictureInput input = picture_input(scenes(), scene());
  const RunResult result = run_picture(scenes(), input, {.record = {.values = false}});
  const Tensor& picture = result.run.picture;
  ASSERT_EQ(picture.shape(), Shape({224, 224, 3}));  // small enough to be kept as it is
  EXPECT_TRUE(std::ranges::equal(picture.values<uint8_t>(), input.picture.bytes));
  EXPECT_NO_THROW(validate(result.run));
}

TEST(PictureInput, RandomWeightsOfTheTopLeaveWhatIsBelow) {
  const PictureInput input = picture_input(scenes(), scene());
  const auto parts = weights_from_the_top(scenes().checkpoint().weights.names());
  ASSERT_EQ(parts.size(), 8U);  // layers
  const Engine random =
      scenes().with_random_weights(1, [&](std::string_view name) { return parts[2].holds(name); });
  EXPECT_NE(random.model_hash(), scenes().model_hash());
  EXPECT_NE(random.model_hash(), scenes().with_random_weights(1).model_hash());
  const RunResult trained = scenes().run(input.input), partly = random.run(input.input);
  for (int layer = 0; layer < 8; ++layer) {
    const SiteId site{SiteKind::kSelf, layer};
    const bool same = partly.map(site, 0).row(0) == trained.map(site, 0).row(0);
    EXPECT_EQ(same, layer < 5) << layer;
  }
}

TEST(PictureInput, RandomWeightsGiveOtherMapsOfTheSameShape) {
  const PictureInput input = picture_input(scenes(), scene());
  const Engine random = scenes().with_random_weights(1);
  EXPECT_NE(random.model_hash(), scenes().model_hash());
  EXPECT_NE(random.model_hash(), scenes().with_random_weights(2).model_hash());
  const SiteId last{SiteKind::kSelf, 7};
  const std::vector<float> row = random.run(input.input).map(last, 0).row(0);
  EXPECT_EQ(row, scenes().with_random_weights(1).run(input.input).map(last, 0).row(0));
  EXPECT_NE(row, scenes().run(input.input).map(last, 0).row(0));
  // Weights of a deviation of 0.02 hardly tell patches apart: attention is nearly even.
  for (const float weight : row) EXPECT_NEAR(weight, 1.0 / 785, 0.5 / 785);
}

// A tiny detector with the preprocessor of the published ones, at a tenth of their size.
std::filesystem::path detector() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "picture_input_detr";
  fs::remove_all(folder);
  fs::copy(test_data("parity") / "detr_basic", folder);
  std::ofstream(folder / "preprocessor_config.json")
      << R"({"image_processor_type": "DetrImageProcessor", "do_resize": true, "do_rescale": true,
             "do_normalize": true, "do_pad": true, "image_mean": [0.5, 0.5, 0.5],
             "image_std": [0.5, 0.5, 0.5], "size": {"shortest_edge": 80, "longest_edge": 133}})";
  return folder;
}

TEST(PictureInput, OfADetectorIsAGridOfCells) {
  const Engine engine = Engine::open(detector().string());
  const PictureInput input = picture_input(engine, scene());
  EXPECT_EQ(input.input.inputs.pixel_values.shape(), Shape({3, 80, 80}));
  EXPECT_EQ(input.input.inputs.pixel_mask.shape(), Shape({80, 80}));
  EXPECT_EQ(input.input.patches.name, "cells");
  EXPECT_EQ(input.grid.rows(), 5);
  EXPECT_EQ(input.grid.patch_of_pixel(223, 223), 24);
  const PictureInput wide = picture_input(engine, scene(), PictureSize{97, 33});
  EXPECT_EQ(wide.input.inputs.pixel_values.shape(), Shape({3, 33, 97}));
  EXPECT_EQ(wide.grid.rows(), 3);  // the last cells reach over the edge
  EXPECT_EQ(wide.grid.columns(), 7);
  EXPECT_EQ(wide.input.patches.positions.size(), 21U);
}

TEST(PictureInput, RefusesModelsOfText) {
  const Engine text = Engine::open(bundled("en-fr"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "sees no pictures",
                         [&] { picture_input(text, scene()); }));
}

}  // namespace
}  // namespace fovea
