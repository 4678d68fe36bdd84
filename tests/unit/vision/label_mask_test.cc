#include "fovea/vision/label_mask.h"

#include <gmock/gmock.h>

#include "support/errors.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

using fovea::support::vision_data;
using ::testing::ElementsAre;

LabelMask read(const std::string& name) {
  return read_label_mask(vision_data("files/" + name));
}

TEST(LabelMask, GreyLevelsAreTheNumbersWhateverTheirBits) {
  for (const auto& [name, step] :
       {std::pair{"grey8.png", 1}, {"grey4.png", 17}, {"grey2.png", 85}, {"grey1.png", 255}}) {
    SCOPED_TRACE(name);
    const LabelMask mask = read(name);
    const Picture picture = read_picture(vision_data(std::string("files/") + name)).picture;
    ASSERT_EQ(mask.size, picture.size());
    // As a picture few bits are spread over 0 to 255.
    for (size_t i = 0; i < mask.labels.size(); ++i) {
      ASSERT_EQ(mask.labels[i] * step, picture.bytes[3 * i]);
    }
  }
}

TEST(LabelMask, IndicesOfAPaletteAreTheNumbers) {
  for (const auto& [name, most] :
       {std::pair{"palette8.png", 255}, {"palette4.png", 15}, {"palette2.png", 3}}) {
    const LabelMask mask = read(name);
    EXPECT_THAT(mask.labels, ::testing::Each(::testing::Le(most))) << name;
    EXPECT_GE(mask.objects().size(), 1U) << name;
  }
}

TEST(LabelMask, RefusesWhatHasNoNumbers) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "colours", [] { read("rgb8.png"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "16 bits", [] { read("grey16.png"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no PNG", [] { read("420.jpg"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "missing.png", [] { read("missing.png"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "pixels", [] {
    read_label_mask(vision_data("files/grey8.png"), {.most_pixels = 4});
  }));
}

TEST(LabelMask, KnowsItsObjects) {
  LabelMask mask(PictureSize{3, 2});
  EXPECT_TRUE(mask.objects().empty());
  mask.labels = {0, 9, 9, 2, 0, 255};
  EXPECT_THAT(mask.objects(), ElementsAre(2, 9, 255));
}

}  // namespace
}  // namespace fovea
