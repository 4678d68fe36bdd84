#include "fovea/vision/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "unit/vision/vision_data.h"

namespace fovea {
namespace {

using support::vision_data;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string bytes_of(const std::string& name) {
  return read_text_file(vision_data("files/" + name));
}

// The message of the Error that `bytes` are refused with, and nothing where they are read.
std::string picture_refusal(std::string_view bytes, const PictureLimits& limits = {}) {
  try {
    decode_picture(as_bytes(bytes), "it", limits);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string png_header(uint32_t width, uint32_t height) {
  std::string bytes = bytes_of("rgb8.png");
  for (int i = 0; i < 4; ++i) {
    bytes[16 + static_cast<size_t>(i)] = static_cast<char>(width >> (24 - 8 * i));
    bytes[20 + static_cast<size_t>(i)] = static_cast<char>(height >> (24 - 8 * i));
  }
  uint32_t crc = ~0U;  // of the chunk's name and data
  for (size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<uint8_t>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0U);
  }
  crc = ~crc;
  for (int i = 0; i < 4; ++i) {
    bytes[29 + static_cast<size_t>(i)] = static_cast<char>(crc >> (24 - 8 * i));
  }
  return bytes;
}

TEST(DecodePicture, GivesTheBytesThatPillowGivesForEveryFormOfFile) {
  const std::string pixels = read_text_file(vision_data("pixels.bin"));
  const Json files = support::vision_json("files.json");
  ASSERT_GE(files.as_array("files").size(), 50U);
  for (const Json& item : files.as_array("files")) {
    const std::string& name = support::text(item, "file");
    SCOPED_TRACE(name);
    const DecodedPicture decoded = read_picture(vision_data("files/" + name));
    ASSERT_EQ(decoded.picture.width, support::number(item, "width"));
    ASSERT_EQ(decoded.picture.height, support::number(item, "height"));
    EXPECT_EQ(static_cast<int>(decoded.orientation), support::number(item, "orientation"));
    const auto* expected =
        reinterpret_cast<const uint8_t*>(pixels.data()) + support::number(item, "offset");
    const auto& actual = decoded.picture.bytes;
    const auto difference = std::mismatch(actual.begin(), actual.end(), expected).first;
    EXPECT_EQ(difference - actual.begin(), static_cast<int64_t>(actual.size()))
        << "the first byte that differs";
  }
}

TEST(DecodePicture, RefusesEveryFileThatIsCutOff) {
  for (const std::string name :
       {"rgb8.png", "interlaced.png", "palette2_transparent.png", "420.jpg", "progressive.jpg",
        "cmyk.jpg", "grey.jpg", "lossy.webp", "lossless.webp", "lossy_alpha.webp", "animated.webp",
        "plain.ppm", "bytes.pgm", "sixteen.ppm"}) {
    const std::string whole = bytes_of(name);
    ASSERT_EQ(picture_refusal(whole), "") << name;
    // The last number of a text file can lose digits and is a number still.
    const size_t last = name.starts_with("plain") ? whole.size() - 3 : whole.size() - 1;
    for (size_t size = 0; size <= last; size += size < 64 ? 1 : 7) {
      const std::string message = picture_refusal(std::string_view(whole).substr(0, size));
      ASSERT_NE(message, "") << name << " of " << size << " bytes";
      ASSERT_THAT(message, AllOf(HasSubstr("it: "), Not(HasSubstr("\n"))));
    }
  }
}

TEST(DecodePicture, RefusesOrReadsFilesWithAnyByteChangedAndNeverCrashes) {
  for (const std::string name : {"rgb8.png", "interlaced_grey1.png", "420.jpg", "progressive.jpg",
                                 "ycck.jpg", "lossy_alpha.webp", "lossless.webp", "plain.pgm"}) {
    const std::string whole = bytes_of(name);
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const int change : {0x01, 0x80, 0xff}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        picture_refusal(damaged, {.most_pixels = 1 << 20});
      }
    }
  }
}

TEST(DecodePicture, RefusesAPngWithOneWrongByteOfPixels) {
  std::string damaged = bytes_of("rgb8.png");
  damaged[damaged.size() / 2] ^= 0x20;
  EXPECT_THAT(picture_refusal(damaged), HasSubstr("damaged or cut-off PNG"));
}

TEST(DecodePicture, RefusesTooManyPixelsByBothNumbersBeforeItAllocates) {
  EXPECT_THAT(picture_refusal(png_header(30000, 30000)),
              AllOf(HasSubstr("30000 x 30000 = 900000000 pixels"), HasSubstr("178956970")));
  EXPECT_THAT(picture_refusal(png_header(0x7fffffff, 0x7fffffff)),
              HasSubstr("2147483647 x 2147483647"));
  EXPECT_THAT(picture_refusal(png_header(2000000, 2)), HasSubstr("1000000"));
  EXPECT_THAT(picture_refusal("P6 30000 30000 255\n"), HasSubstr("900000000"));
  EXPECT_THAT(picture_refusal("P6 99999999999999999999 1 255\n"), HasSubstr("no width"));
  EXPECT_THAT(picture_refusal(bytes_of("420.jpg"), {.most_pixels = 1000}),
              AllOf(HasSubstr("37 x 29 = 1073"), HasSubstr("1000")));
  EXPECT_THAT(picture_refusal(bytes_of("lossy.webp"), {.most_pixels = 700}), HasSubstr("31 x 23"));
}

TEST(DecodePicture, RefusesALargeSizeThatAShortFileCannotHold) {
  EXPECT_THAT(picture_refusal(png_header(12000, 12000)), HasSubstr("cannot come out of it"));
  EXPECT_THAT(picture_refusal("P5 9000 9000 255\nabc"), HasSubstr("81000000 bytes, 3 are there"));
  EXPECT_THAT(picture_refusal(png_header(0, 5)), HasSubstr("PNG"));
  EXPECT_THAT(picture_refusal("P5 0 5 255\n"), HasSubstr("0 x 5"));
}

TEST(DecodePicture, NamesTheFormatsThatItDoesNotRead) {
  const std::string heic(
      "\0\0\0\x18"
      "ftypheic",
      12);
  const std::string avif(
      "\0\0\0\x18"
      "ftypavif",
      12);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"GIF89a...", "a GIF"},
      {std::string("BM\x10\0\0\0", 6), "a BMP"},
      {std::string("II*\0", 4), "a TIFF"},
      {heic, "a HEIC"},
      {avif, "an AVIF"},
      {"%PDF-1.7", "a PDF"},
      {"<?xml version=\"1.0\"?>\n<svg xmlns=\"x\"/>", "an SVG"},
      {std::string("P4\n8 1\n\x0f", 8), "a PBM"}};
  for (const auto& [bytes, name] : cases) {
    EXPECT_THAT(picture_refusal(bytes), AllOf(HasSubstr(name), HasSubstr("save it as PNG")));
  }
}

TEST(DecodePicture, SaysWhatAFileIsThatIsNoPicture) {
  EXPECT_THAT(picture_refusal(""), HasSubstr("is empty, 0 bytes"));
  EXPECT_THAT(picture_refusal("a line of words\n"),
              HasSubstr("is a text of 16 bytes, not a picture"));
  EXPECT_THAT(picture_refusal("BMW is a car maker\n"), HasSubstr("is a text"));
  EXPECT_THAT(picture_refusal(std::string("\0\1\2\3\4", 5)), HasSubstr("unknown kind of 5 bytes"));
  EXPECT_THAT(picture_refusal("P9 1 1"), HasSubstr("text"));
}

TEST(DecodePicture, RefusesSamplesAboveTheLargestValue) {
  EXPECT_THAT(picture_refusal("P2 2 1 100 100 101"), HasSubstr("a sample of 101"));
  EXPECT_THAT(picture_refusal("P2 2 1 70000 1 2"), HasSubstr("70000"));
  EXPECT_THAT(picture_refusal("P2 2 1 100 -1 2"), HasSubstr("no sample"));
}

TEST(ReadPicture, NamesAFolderAndAMissingFile) {
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      read_picture(path);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message(vision_data("files")), HasSubstr("is a folder, not a file"));
  EXPECT_THAT(message(vision_data("nothing.png")), HasSubstr("no such file"));
}

}  // namespace
}  // namespace fovea
