#include "fovea/engine/patch_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/engine/check_maps.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/model_info.h"
#include "support/errors.h"
#include "support/model_with_words.h"
#include "support/random.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names(const std::vector<Axis>& axes) {
  std::vector<std::string> all;
  for (const Axis& axis : axes) all.push_back(axis.name);
  return all;
}

ModelInputs picture(int64_t height, int64_t width) {
  ModelInputs inputs;
  inputs.pixel_values = fovea::support::random_tensor({3, height, width}, 3);
  return inputs;
}

Engine open(std::string_view fixture) {
  return Engine::open(parity_folder(fixture).string());
}

TEST(CellAxis, PaddingKeepsItsPlaceInTheGrid) {
  ModelInputs inputs = picture(70, 100);
  inputs.pixel_mask = Tensor(Shape{70, 100}, DType::kI64);
  for (size_t i = 0; i < 7000; ++i) inputs.pixel_mask.mutable_values<int64_t>()[i] = i % 100 < 60;
  const RunResult result = open("detr_basic").run(inputs);
  ASSERT_THAT(names(result.run.axes), ElementsAre("cells", "queries"));
  const Axis& cells = result.run.axes[0];
  EXPECT_EQ(cells.grid_rows, 5);
  EXPECT_EQ(cells.grid_cols, 7);
  ASSERT_EQ(cells.positions.size(), 35U);
  EXPECT_EQ(cells.positions[8].text, "cell 1,1");
  EXPECT_FALSE(cells.positions[8].special);
  EXPECT_TRUE(cells.positions[13].special);  // the last of its row
  EXPECT_EQ(result.run.axes[1].positions.back().text, "query 6");
  validate(result.run);
}

TEST(CheckMaps, HeadsThatShareASoftmaxAreCheckedTogether) {
  for (const char* fixture : {"detr_panoptic", "detr_objects"}) {
    const Engine engine = open(fixture);
    const MapCheck check = check_maps(engine, check_input(engine));
    EXPECT_TRUE(check.passed()) << fixture << check.row_sum_error << " " << check.output_error;
    EXPECT_EQ(model_info(engine).facts.objects->queries, 7);
  }
}

TEST(PatchAxis, TokensInFrontAreNoPartOfTheGrid) {
  const RunResult result = open("dinov2_registers").run(picture(15, 30));
  ASSERT_THAT(names(result.run.axes), ElementsAre("patches"));
  const Axis& axis = result.run.axes.front();
  EXPECT_EQ(axis.grid_rows, 2);
  EXPECT_EQ(axis.grid_cols, 4);
  ASSERT_EQ(axis.positions.size(), 4U + 8U);
  EXPECT_EQ(axis.positions[0].text, "[CLS]");
  EXPECT_EQ(axis.positions[3].text, "[REG 3]");
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    EXPECT_EQ(axis.positions[i].special, i < 4) << i;
  }
  EXPECT_EQ(axis.positions[4].text, "patch 0,0");
  EXPECT_EQ(axis.positions[7].text, "patch 0,3");
  EXPECT_EQ(axis.positions[8].text, "patch 1,0");
  validate(result.run);
}

TEST(PatchAxis, TwoTowersHaveAnAxisEach) {
  const Engine engine = open("siglip_model");
  ModelInputs both = picture(32, 40);
  both.input_ids = {7, 8};
  const RunResult result = engine.run(both);
  EXPECT_THAT(names(result.run.axes), ElementsAre("patches", "pool", "tokens"));
  EXPECT_EQ(result.run.find_axis("pool")->positions.size(), 1U);
  EXPECT_EQ(result.run.find_axis("tokens")->positions.size(), 2U);
  validate(result.run);
  EXPECT_THAT(names(engine.run(picture(32, 40)).run.axes), ElementsAre("patches", "pool"));
  ModelInputs text;
  text.input_ids = {7, 8};
  EXPECT_THAT(names(engine.run(text).run.axes), ElementsAre("tokens"));
}

TEST(PatchAxis, AHugePictureIsRefusedBeforeItsPatchesAreNamed) {
  ModelInputs inputs;
  inputs.pixel_values = Tensor(Shape{3, 8, 8 * (kMostPatches + 1)});
  EXPECT_TRUE(
      patch_axis(*open("vit_model").facts().picture, inputs.pixel_values).positions.empty());
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "more than 262144 patches",
                         [&] { open("vit_model").run(inputs); }));
}

TEST(PatchAxis, ATextIsNothingForAModelOfPictures) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "sees pictures and reads no text",
                         [&] { open("vit_model").encode("a cat"); }));
  ModelInputs ids;
  ids.input_ids = {7, 8};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "input_ids is given",
                         [&] { open("vit_model").run(ids); }));
}

TEST(CheckMaps, PicturesAreMadeUp) {
  for (const char* name : {"vit_model", "clip_model", "siglip_vision", "dinov3_model"}) {
    const Engine engine = open(name);
    const MapCheck check = check_maps(engine, check_input(engine));
    EXPECT_TRUE(check.passed()) << name;
    EXPECT_GE(check.tokens, 16) << name;
  }
}

TEST(ModelInfo, SaysHowPicturesAreCut) {
  const Json json = to_json(model_info(open("clip_model")));
  EXPECT_EQ(json.at("patch_size", "").dump(), "[8,8]");
}

}  // namespace
}  // namespace fovea
