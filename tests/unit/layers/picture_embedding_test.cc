#include "fovea/layers/picture_embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "fovea/layers/attend.h"
#include "fovea/layers/layer_scale.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;
using fovea::support::to_doubles;
using ::testing::ElementsAre;

LayerSource embedding_source(std::vector<NamedTensor> tensors) {
  return {Weights(std::make_shared<MemorySource>(std::move(tensors))), DType::kF32};
}

Config embedding_config(std::string_view json) {
  return Config(Json::parse(json, "config.json"), "config.json");
}

constexpr PatchSizes kPatchSizes{
    .channels = 3, .patch_height = 4, .patch_width = 5, .image_height = 8, .image_width = 10};

TEST(PictureEmbedding, IsAConvolutionThatLeavesOutWhatIsLeftOver) {
  const Tensor weight = random_tensor({7, 3, 4, 5}, 1), bias = random_tensor({7}, 2);
  const Tensor pixels = random_tensor({3, 14, 18}, 3);  // 3 x 3 patches, 2 rows and 3 columns over
  const PictureEmbedding embed(embedding_source({{"weight", weight}, {"bias", bias}}), kPatchSizes,
                               7, true, Tensor());
  const Tensor found = embed(pixels).tensor;
  ASSERT_EQ(found.shape(), Shape({9, 7}));
  std::vector<double> expected;
  for (int64_t patch = 0; patch < 9; ++patch) {
    for (int64_t out = 0; out < 7; ++out) {
      double sum = bias.values<float>()[static_cast<size_t>(out)];
      for (int64_t c = 0; c < 3; ++c) {
        for (int64_t y = 0; y < 4; ++y) {
          for (int64_t x = 0; x < 5; ++x) {
            const int64_t pixel = (c * 14 + patch / 3 * 4 + y) * 18 + patch % 3 * 5 + x;
            sum +=
                double{
                    weight.values<float>()[static_cast<size_t>(((out * 3 + c) * 4 + y) * 5 + x)]} *
                double{pixels.values<float>()[static_cast<size_t>(pixel)]};
          }
        }
      }
      expected.push_back(sum);
    }
  }
  EXPECT_TRUE(all_close(found.values<float>(), expected, 2e-5));  // 60 products around 1
}

TEST(PictureEmbedding, TokensStandInFrontAndPositionsAreAdded) {
  const Tensor front = random_tensor({2, 7}, 4), table = random_tensor({4, 7}, 5);
  PictureEmbedding embed(embedding_source({{"weight", Tensor(Shape{7, 3, 4, 5})}}), kPatchSizes, 7,
                         false, front);
  embed.set_positions({kPatchSizes, table, BicubicFilter::kPlain});
  const Tensor found = embed(Tensor(Shape{3, 8, 10})).tensor;  // black: positions alone
  ASSERT_EQ(found.shape(), Shape({6, 7}));
  std::vector<double> expected = to_doubles(front);
  for (const double value : to_doubles(table)) expected.push_back(value);
  EXPECT_TRUE(all_close(found.values<float>(), expected, 0));
  // Another size: as the resized table says, row by row.
  const Tensor wide = embed(Tensor(Shape{3, 8, 25})).tensor;
  const Tensor resized = resize_bicubic(table.reshaped({2, 2, 7}), 2, 5, BicubicFilter::kPlain);
  ASSERT_EQ(wide.shape(), Shape({12, 7}));
  EXPECT_TRUE(all_close(wide.values<float>().subspan(14), to_doubles(resized), 0));
}

TEST(PatchSizes, NumbersAndPairsAreRead) {
  const PatchSizes square =
      PatchSizes::of(embedding_config(R"({"patch_size": 8, "image_size": 37})"));
  EXPECT_EQ(square.trained_patches(), 16);
  EXPECT_EQ(square.channels, 3);
  const PatchSizes wide = PatchSizes::of(
      embedding_config(R"({"patch_size": [4, 5], "image_size": [8, 20], "num_channels": 1})"));
  EXPECT_EQ(wide.rows(wide.image_height), 2);
  EXPECT_EQ(wide.cols(wide.image_width), 4);
  EXPECT_EQ(wide.patch_values(), 20);
}

TEST(PatchSizes, SizesThatNoModelHasAreRefused) {
  for (const auto& [json, said] : std::map<std::string, std::string>{
           {R"({"patch_size": 0, "image_size": 32})", "patch_size is 0"},
           {R"({"patch_size": -8, "image_size": 32})", "patch_size is -8"},
           {R"({"patch_size": 2000, "image_size": 4000})", "patch_size is 2000"},
           {R"({"patch_size": 8, "image_size": 1000000000000})", "image_size is 1000000000000"},
           {R"({"patch_size": 16, "image_size": 8})", "no patch fits"},
           {R"({"patch_size": [8], "image_size": 8})", "patch_size has 1 entries"},
           {R"({"patch_size": [8, 8, 8], "image_size": 8})", "patch_size has 3 entries"},
           {R"({"patch_size": "8", "image_size": 8})", "'patch_size' should be a whole number"},
           {R"({"image_size": 8})", "'patch_size' should be"},
           {R"({"patch_size": 8, "image_size": 8, "num_channels": 100000})", "num_channels"}}) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, said, [&] {
      PatchSizes::of(embedding_config(json));
    })) << json;
  }
}

TEST(RegisterTokens, AreCountedAndNamedFromOne) {
  EXPECT_THAT(register_names(2), ElementsAre("[REG 1]", "[REG 2]"));
  EXPECT_EQ(register_count(embedding_config("{}"), 4), 4);
  for (const char* json :
       {R"({"num_register_tokens": -1})", R"({"num_register_tokens": 99999999})"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "num_register_tokens is",
                           [&] { register_count(embedding_config(json), 4); }));
  }
}

TEST(ScaledLinear, MultipliesWhatTheLayerGives) {
  const Tensor weight = random_tensor({4, 6}, 6), bias = random_tensor({4}, 7);
  const Tensor scale = random_tensor({4}, 8), x = random_tensor({3, 6}, 9);
  const LayerSource source = embedding_source({{"weight", weight}, {"bias", bias}});
  const Tensor found = load_scaled_linear(source, 6, 4, true, scale)(x).tensor;
  const Tensor plain = load_linear(source, 6, 4)(x).tensor;
  std::vector<double> expected;
  for (size_t i = 0; i < 12; ++i) {
    expected.push_back(double{plain.values<float>()[i]} * double{scale.values<float>()[i % 4]});
  }
  EXPECT_TRUE(all_close(found.values<float>(), expected, 2e-6));  // six products around 1
  // The file's own tensors stay as they are.
  EXPECT_TRUE(all_close(load_linear(source, 6, 4)(x).tensor.values<float>(), to_doubles(plain), 0));
}

TEST(AttentionPlace, PicturesCountAlongPatches) {
  EXPECT_EQ(AttentionPlace::of({SiteKind::kVisionSelf, 3}).row_axis, "patches");
  EXPECT_EQ(AttentionPlace::of({SiteKind::kVisionSelf, 3}).col_axis, "patches");
  EXPECT_EQ(AttentionPlace::of({SiteKind::kTextSelf, 3}).row_axis, "tokens");
  EXPECT_EQ(AttentionPlace::of({SiteKind::kPool, 0}).row_axis, "pool");
  EXPECT_EQ(AttentionPlace::of({SiteKind::kPool, 0}).col_axis, "patches");
}

}  // namespace
}  // namespace fovea
