#include "fovea/render/png.h"

#include <gmock/gmock.h>
#include <png.h>

#include <cstring>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;

Picture gradient(int64_t width, int64_t height) {
  Picture image(width, height);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      image.set(x, y, {static_cast<uint8_t>(x * 40), static_cast<uint8_t>(y * 60), 7});
    }
  }
  return image;
}

// What libpng's own simple reader sees.
std::vector<uint8_t> decode_png(const std::string& bytes, int64_t width, int64_t height) {
  png_image reader{};
  reader.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&reader, bytes.data(), bytes.size()));
  EXPECT_EQ(reader.width, width);
  EXPECT_EQ(reader.height, height);
  reader.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(reader));
  EXPECT_TRUE(png_image_finish_read(&reader, nullptr, pixels.data(), 0, nullptr));
  return pixels;
}

TEST(Png, ReadsBackAsTheSamePixels) {
  const Picture image = gradient(5, 3);
  EXPECT_EQ(decode_png(encode_png(image), 5, 3), image.bytes);
}

TEST(Png, TheSamePictureGivesTheSameBytes) {
  const PngText text{.title = "weights"};
  EXPECT_EQ(encode_png(gradient(9, 4), text), encode_png(gradient(9, 4), text));
}

TEST(Png, CarriesItsText) {
  const std::string bytes =
      encode_png(gradient(2, 2), {.title = "Four words", .description = "row \u2192 column"});
  EXPECT_THAT(bytes, HasSubstr(std::string("tEXtSoftware\0fovea", 18)));
  EXPECT_THAT(bytes, HasSubstr(std::string("tEXtTitle\0Four words", 20)));
  EXPECT_THAT(bytes, HasSubstr("iTXtDescription"));  // not Latin-1, so it is stored as UTF-8
  EXPECT_THAT(bytes, HasSubstr("row \u2192 column"));
}

TEST(Png, RefusesAnEmptyPicture) {
  EXPECT_THROW(encode_png(Picture()), Error);
}

TEST(Png, AMaskIsGreyWithTheNumbersThemselves) {
  LabelMask mask(PictureSize{5, 3});
  for (size_t i = 0; i < mask.labels.size(); ++i) mask.labels[i] = static_cast<uint8_t>(17 * i);
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "labels.png";
  write_png(path, mask);
  const LabelMask read = read_label_mask(path);
  EXPECT_EQ(read.size, mask.size);
  EXPECT_EQ(read.labels, mask.labels);
  const std::vector<uint8_t> rgb = decode_png(read_text_file(path), 5, 3);
  EXPECT_EQ(rgb[3 * 14], 238);
  EXPECT_EQ(read_text_file(path)[25], 0);  // colour type of the header: grey
  EXPECT_THROW(encode_png(LabelMask()), Error);
  std::filesystem::remove(path);
}

TEST(Png, IsWrittenWholeOrNotAtAll) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "png_test";
  std::filesystem::create_directories(folder);
  write_png(folder / "a.png", gradient(4, 4));
  EXPECT_EQ(read_text_file(folder / "a.png"), encode_png(gradient(4, 4)));
  EXPECT_THROW(write_png(folder / "missing" / "b.png", gradient(4, 4)), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fovea
