#include "fovea/vision/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/base/sha256.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

std::string hash(const Picture& picture) {
  return sha256_hex(
      as_bytes({reinterpret_cast<const char*>(picture.bytes.data()), picture.bytes.size()}));
}

TEST(Resize, GivesTheBytesOfPillowAndOfTorch) {
  const Json cases = support::vision_json("resize.json");
  ASSERT_GE(cases.as_array("cases").size(), 400U);
  for (const Json& item : cases.as_array("cases")) {
    SCOPED_TRACE(item.dump());
    const Picture picture =
        support::formula_picture(support::number(item, "from", 0), support::number(item, "from", 1),
                                 support::number(item, "seed"));
    const PictureSize size{support::number(item, "to", 0), support::number(item, "to", 1)};
    const auto filter = static_cast<ResizeFilter>(support::number(item, "filter"));
    const ResizeRule rule =
        support::text(item, "rule") == "pillow" ? ResizeRule::kPillow : ResizeRule::kTorch;
    EXPECT_EQ(hash(resize(picture, size, filter, rule)), support::text(item, "sha256"));
  }
}

TEST(Resize, DoesNotDependOnHowManyThreadsThereAre) {
  const Picture picture = support::formula_picture(301, 211, 0);
  const int threads = thread_count();
  set_thread_count(1);
  const Picture alone = resize(picture, {97, 89}, ResizeFilter::kLanczos, ResizeRule::kTorch);
  set_thread_count(7);
  const Picture many = resize(picture, {97, 89}, ResizeFilter::kLanczos, ResizeRule::kTorch);
  set_thread_count(threads);
  EXPECT_EQ(alone.bytes, many.bytes);
}

TEST(Resize, KeepsAPictureOfTheSameSizeAndAFlatColour) {
  const Picture picture = support::formula_picture(31, 17, 0);
  for (const ResizeRule rule : {ResizeRule::kPillow, ResizeRule::kTorch}) {
    EXPECT_EQ(resize(picture, {31, 17}, ResizeFilter::kLanczos, rule).bytes, picture.bytes);
    Picture flat(40, 30);
    std::fill(flat.bytes.begin(), flat.bytes.end(), uint8_t{201});
    const Picture smaller = resize(flat, {13, 57}, ResizeFilter::kBicubic, rule);
    EXPECT_TRUE(std::ranges::all_of(smaller.bytes, [](uint8_t byte) { return byte == 201; }));
  }
}

TEST(ResizeToFloats, IsTheResultBeforeItIsRounded) {
  const Picture picture = support::formula_picture(45, 33, 1);
  const PictureSize size{20, 50};
  const FloatPicture floats = resize_to_floats(picture, size, ResizeFilter::kBilinear);
  const Picture bytes = resize(picture, size, ResizeFilter::kBilinear, ResizeRule::kPillow);
  ASSERT_EQ(floats.values.size(), bytes.bytes.size());
  for (size_t i = 0; i < bytes.bytes.size(); ++i) {
    // Bytes are rounded after the rows and again after the columns: half a level each.
    EXPECT_NEAR(floats.values[i], bytes.bytes[i], 1.001) << i;
  }
}

TEST(Resize, RefusesASideOfZero) {
  const Picture picture = support::formula_picture(4, 4, 0);
  EXPECT_THROW(resize(picture, {0, 5}, ResizeFilter::kBox, ResizeRule::kPillow), Error);
  EXPECT_THROW(resize(Picture(), {5, 5}, ResizeFilter::kBox, ResizeRule::kPillow), Error);
  EXPECT_THROW(Picture(0, 3), Error);
}

}  // namespace
}  // namespace fovea
