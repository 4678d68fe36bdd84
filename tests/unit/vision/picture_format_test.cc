#include "fovea/vision/picture_format.h"

#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "support/errors.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

PictureFormat format_of(const std::string& name) {
  return picture_format(MappedFile::open(support::vision_data("files/" + name))->bytes());
}

TEST(PictureFormat, IsToldByTheFirstBytes) {
  EXPECT_EQ(format_of("grey16.png"), PictureFormat::kPng);
  EXPECT_EQ(format_of("progressive.jpg"), PictureFormat::kJpeg);
  EXPECT_EQ(format_of("lossless.webp"), PictureFormat::kWebp);
  EXPECT_EQ(format_of("plain.pgm"), PictureFormat::kPnm);
  EXPECT_EQ(format_of("bytes.ppm"), PictureFormat::kPnm);
  EXPECT_EQ(picture_format(as_bytes("GIF89a")), PictureFormat::kOther);
  EXPECT_EQ(picture_format({}), PictureFormat::kOther);
}

TEST(PictureFormat, NamesOfWhatIsRead) {
  for (const char* name : {"a.png", "b.JPG", "c.jpeg", "d.Webp", "e.ppm", "f.pgm", "g.pnm"}) {
    EXPECT_TRUE(has_readable_suffix(name)) << name;
  }
  for (const char* name : {"a.gif", "png", ".png", "a.png.txt", ""}) {
    EXPECT_FALSE(has_readable_suffix(name)) << name;
  }
}

TEST(PictureFormat, OfWhatIsNotReadIsNamed) {
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "GIF", [] { refuse_picture(as_bytes("GIF89a"), "it"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "it",
                         [] { refuse_picture(as_bytes("no picture at all"), "it"); }));
}

}  // namespace
}  // namespace fovea
