#include "fovea/vision/preprocessor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

#include "fovea/base/error.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

using support::formula_picture;
using ::testing::HasSubstr;

PreprocessorConfig parsed(std::string_view json, std::string_view model_type = "") {
  return parse_preprocessor_config(Json::parse(json, "p.json"), "p.json", model_type);
}

std::string config_refusal(std::string_view json) {
  try {
    parsed(json);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class PreparedAnswers {
 public:
  PreparedAnswers()
      : pictures_(read_text_file(support::vision_data("pictures.bin"))),
        values_(read_text_file(support::vision_data("values.bin"))) {}

  void check(const Json& item) const {
    const auto [offset, size] =
        std::pair(support::number(item, "picture", 0), support::number(item, "picture", 1));
    const Bytes file =
        as_bytes(pictures_).subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
    const Preprocessor preprocessor(
        parse_preprocessor_config(item.at("config", "case"), "the case"));
    const PreparedPicture prepared = preprocessor.prepare(decode_picture(file, "a file").picture);
    const Shape shape{3, support::number(item, "shape", 1), support::number(item, "shape", 2)};
    ASSERT_EQ(prepared.pixel_values.shape(), shape);
    check_values(item, prepared.pixel_values, preprocessor.config());
    ASSERT_EQ(prepared.pixel_mask.has_value(), item.find("mask") != nullptr);
    if (prepared.pixel_mask) {
      const auto mask = prepared.pixel_mask->values<int64_t>();
      EXPECT_EQ(std::accumulate(mask.begin(), mask.end(), int64_t{0}),
                support::number(item, "mask"));
    }
  }

 private:
  void check_values(const Json& item, const Tensor& actual,
                    const PreprocessorConfig& config) const {
    const std::span<const float> values = actual.values<float>();
    const auto step = static_cast<size_t>(support::number(item, "step"));
    const char* expected = values_.data() + support::number(item, "values") * 4;
    // The same bytes are resized, so only the last steps in float may differ, by a few units in the
    // last place of numbers as large as 255. That is far below one grey level.
    const double grey = (config.do_rescale ? config.rescale_factor : 1.0) /
                        (config.do_normalize ? *std::ranges::min_element(config.std) : 1.0);
    for (size_t i = 0; i < values.size(); i += step, expected += 4) {
      float value = 0;
      std::memcpy(&value, expected, 4);
      ASSERT_NEAR(values[i], value, grey * 1e-3) << "value " << i;
    }
  }

  std::string pictures_;
  std::string values_;
};

TEST(Preprocessor, PreparesRandomPicturesAsTransformersDoes) {
  const PreparedAnswers answers;
  const Json cases = support::vision_json("prepare.json");
  ASSERT_GE(cases.as_array("cases").size(), 200U);
  for (const Json& item : cases.as_array("cases")) {
    SCOPED_TRACE(item.dump());
    answers.check(item);
  }
}

TEST(Preprocessor, TakesTheDefaultsOfTheModelWhereNoClassIsNamed) {
  EXPECT_EQ(parsed("{}", "dinov2_with_registers").class_name, "BitImageProcessor");
  EXPECT_EQ(parsed("{}", "vit").size.width, 224);
  EXPECT_EQ(parsed("{}", "deit").crop_size, (PictureSize{224, 224}));
  EXPECT_EQ(parsed("{}", "detr").size.longest_edge, 1333);
  EXPECT_EQ(parsed(R"({"image_processor": {"image_processor_type": "CLIPImageProcessor"}})").filter,
            ResizeFilter::kBicubic);
}

TEST(Preprocessor, RefusesWhatItDoesNotUnderstandByName) {
  EXPECT_THAT(config_refusal(R"({"image_processor_type": "Qwen2VLImageProcessor"})"),
              HasSubstr("'Qwen2VLImageProcessor' is not known"));
  EXPECT_THAT(config_refusal("{}"), HasSubstr("'' is not known"));
  const auto vit = [](const std::string& member) {
    return config_refusal(R"({"image_processor_type": "ViTImageProcessor", )" + member + "}");
  };
  EXPECT_THAT(vit(R"("size": {"min_pixels": 4, "max_pixels": 9})"), HasSubstr("p.json: size"));
  EXPECT_THAT(vit(R"("size": -3)"), HasSubstr("is -3 pixels"));
  EXPECT_THAT(vit(R"("size": [1, 2, 3])"), HasSubstr("has 3 numbers"));
  EXPECT_THAT(vit(R"("resample": 9)"), HasSubstr("is 9"));
  EXPECT_THAT(vit(R"("image_std": [1, 0, 1])"), HasSubstr("image_std is 0"));
  EXPECT_THAT(vit(R"("image_mean": [1, 2])"), HasSubstr("2 numbers"));
  EXPECT_THAT(vit(R"("do_center_crop": true)"), HasSubstr("crop_size is missing"));
  EXPECT_THAT(vit(R"("do_resize": "yes")"), HasSubstr("do_resize should be"));
  EXPECT_THAT(vit(R"("rescale_factor": 0)"), HasSubstr("rescale_factor is 0"));
  EXPECT_THAT(vit(R"("crop_size": {"shortest_edge": 5})"), HasSubstr("needs a height"));
}

TEST(Preprocessor, PreparesTheSmallestPictureAndRefusesTheThinnest) {
  const Preprocessor clip(parsed("{}", "clip"));
  EXPECT_EQ(clip.prepare(formula_picture(1, 1, 0)).pixel_values.shape(), (Shape{3, 224, 224}));
  EXPECT_THROW(clip.window({1, 1'000'000}), Error);  // 224 x 224,000,000
  const Preprocessor detr(parsed("{}", "detr"));
  EXPECT_THROW(detr.window({1, 5000}), Error);  // 0 x 1333
}

TEST(Preprocessor, AGivenSizeTakesThePlaceOfSizeAndCrop) {
  const Preprocessor clip = Preprocessor(parsed("{}", "clip")).with_size({96, 48});
  const PreparedPicture prepared = clip.prepare(formula_picture(30, 50, 1));
  EXPECT_EQ(prepared.pixel_values.shape(), (Shape{3, 48, 96}));
  EXPECT_EQ(prepared.window.left, 0);
  EXPECT_THROW(clip.with_size({0, 5}).window({3, 3}), Error);
  EXPECT_THROW(clip.with_size({1 << 20, 1 << 20}).window({3, 3}), Error);
}

TEST(Preprocessor, OpensTheFilesOfACheckpoint) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "preprocessor";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  EXPECT_THROW(Preprocessor::open(folder, "vit"), Error);
  std::ofstream(folder / "preprocessor_config.json") << R"({"size": 32})";
  std::ofstream(folder / "processor_config.json") << R"({"processor_class": "X"})";
  EXPECT_EQ(Preprocessor::open(folder, "vit").config().size.height, 32);
  std::ofstream(folder / "processor_config.json") << R"({"image_processor": {"size": 48}})";
  EXPECT_EQ(Preprocessor::open(folder, "vit").config().size.height, 48);
}

}  // namespace
}  // namespace fovea
