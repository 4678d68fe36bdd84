#include "fovea/explain/pictures/mask_rle.h"

#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "support/data.h"

namespace fovea {
namespace {

std::vector<int64_t> integers(const Json& json) {
  std::vector<int64_t> result;
  for (const Json& item : json.as_array("integers")) result.push_back(item.as_int("integer"));
  return result;
}

TEST(MaskRle, IsCocosForm) {
  const Json file = Json::parse(read_text_file(test_data("explain/detections.json")), "test");
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
    EXPECT_EQ(to_json(rle).at("counts", "test").as_string("counts"), text);
    EXPECT_EQ(integers(to_json(rle).at("size", "test")), (std::vector{height, mask.width}));
  }
}

}  // namespace
}  // namespace fovea
