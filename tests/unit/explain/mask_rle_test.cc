#include "fovea/explain/pictures/mask_rle.h"

#include <gtest/gtest.h>

#include <random>

#include "fovea/base/file.h"
#include "unit/base/test_support.h"

namespace fovea {
namespace {

std::vector<int64_t> integers(const Json& json) {
  std::vector<int64_t> result;
  for (const Json& item : json.as_array("integers")) result.push_back(item.as_int("integer"));
  return result;
}

TEST(MaskRle, IsCocosFormInBothDirections) {
  const Json file = Json::parse(read_text_file(FOVEA_TEST_DATA "/explain/detections.json"), "test");
  for (const Json& test_case : file.at("masks", "test").as_array("masks")) {
    const auto& rows = test_case.at("rows", "test").as_array("rows");
    const auto height = static_cast<int64_t>(rows.size());
    PixelMask mask(static_cast<int64_t>(rows[0].as_string("row").size()), height);
    for (int64_t y = 0; y < height; ++y) {
      const std::string& row = rows[static_cast<size_t>(y)].as_string("row");
      for (int64_t x = 0; x < mask.width; ++x) {
        mask.pixels[static_cast<size_t>(y * mask.width + x)] = row[static_cast<size_t>(x)] == '1';
      }
    }
    const std::vector<int64_t> counts = integers(test_case.at("counts", "test"));
    const std::string& text = test_case.at("text", "test").as_string("text");
    const MaskRle rle = encode_mask(mask);
    EXPECT_EQ(rle.counts, counts);
    EXPECT_EQ(counts_to_text(counts), text);
    EXPECT_EQ(counts_from_text(text), counts);
    EXPECT_EQ(decode_mask(rle), mask);
    EXPECT_EQ(mask_from_json(to_json(rle), "test"), rle);
  }
}

TEST(MaskRle, ReadsNumbersAsWellAsText) {
  const Json json = Json::parse(R"({"size": [2, 3], "counts": [1, 4, 1]})", "test");
  const PixelMask mask = decode_mask(mask_from_json(json, "test"));
  EXPECT_EQ(mask.width, 3);
  EXPECT_EQ(mask.pixels, (std::vector<uint8_t>{0, 1, 1, 1, 1, 0}));
}

TEST(MaskRle, RefusesRunsThatDoNotMakeUpTheMask) {
  const auto read = [](const std::string& text) {
    return [text] { mask_from_json(Json::parse(text, "test"), "masks.json"); };
  };
  for (const char* text :
       {R"({"size": [2, 3], "counts": [1, 4]})", R"({"size": [2, 3], "counts": [1, 4, 2]})",
        R"({"size": [2, 3], "counts": [-1, 7]})", R"({"size": [2, 3], "counts": []})",
        R"({"size": [0, 3], "counts": []})", R"({"size": [-2, -3], "counts": [6]})",
        R"({"size": [2], "counts": [2]})", R"({"size": [2, 3]})", R"({"counts": [6]})",
        R"({"size": [4294967296, 4294967296], "counts": [0]})",
        R"({"size": [2, 3], "counts": [9223372036854775807, 9223372036854775807]})",
        R"({"size": [2, 3], "counts": "~"})", R"({"size": [2, 3], "counts": "o"})",
        R"({"size": [2, 3], "counts": "oooooooooooooooo0"})", R"({"size": [2, 3], "counts": "O"})",
        R"({"size": [2, 3], "counts": 6})"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "", read(text))) << text;
  }
}

TEST(MaskRle, AnyTextIsReadOrRefused) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> letter(40, 120), length(0, 30);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int n = length(random); n > 0; --n) text += static_cast<char>(letter(random));
    try {
      const auto counts = counts_from_text(text);
      for (const int64_t count : counts) EXPECT_GE(count, 0);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadFile);
    }
  }
}

}  // namespace
}  // namespace fovea
