// Every kind of figure against a stored picture, and changes that must show.
// FOVEA_UPDATE_GOLDEN=1 writes the stored ones anew; look at them before they are committed.
#include <gmock/gmock.h>
#include <png.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "fovea/base/file.h"
#include "fovea/render/figure_file.h"
#include "support/data.h"
#include "unit/figure/figure_mutations.h"

namespace fovea {
namespace {

const FigureOptions kOptions{.pixels = 1};

struct Pixels {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> bytes;
};

Pixels decode_figure(const std::string& png) {
  png_image reader{};
  reader.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&reader, png.data(), png.size()));
  reader.format = PNG_FORMAT_RGB;
  Pixels pixels{reader.width, reader.height, std::vector<uint8_t>(PNG_IMAGE_SIZE(reader))};
  EXPECT_TRUE(png_image_finish_read(&reader, nullptr, pixels.bytes.data(), 0, nullptr));
  return pixels;
}

// Versions of cairo blend the edges of shapes a little differently: a few levels everywhere, more
// in a handful of corners. A missing full stop changes more than that.
bool same_pixels(const Pixels& a, const Pixels& b) {
  if (a.width != b.width || a.height != b.height) return false;
  constexpr int kLevels = 24;
  constexpr int kCorners = 6;
  int far_off = 0;
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    if (std::abs(a.bytes[i] - b.bytes[i]) > kLevels) ++far_off;
  }
  return far_off <= kCorners;
}

// The same elements, attributes and words; numbers may differ by what printing them rounds off.
bool same_drawing(const std::string& a, const std::string& b) {
  const char* left = a.c_str();
  const char* right = b.c_str();
  while (*left != '\0' && *right != '\0') {
    const bool number = (*left >= '0' && *left <= '9') || *left == '-' || *left == '.';
    char* left_end = nullptr;
    char* right_end = nullptr;
    const double x = number ? std::strtod(left, &left_end) : 0;
    const double y = number ? std::strtod(right, &right_end) : 0;
    if (number && left_end != left && right_end != right) {
      if (std::abs(x - y) > 0.01) return false;
      left = left_end;
      right = right_end;
    } else if (*left++ != *right++) {
      return false;
    }
  }
  return *left == *right;
}

class Golden : public testing::TestWithParam<samples::Sample> {
 protected:
  std::filesystem::path stored(std::string_view suffix) const {
    return test_data("figures") / (GetParam().name + std::string(suffix));
  }
  static bool updating() { return std::getenv("FOVEA_UPDATE_GOLDEN") != nullptr; }
};

TEST_P(Golden, PictureIsTheStoredOne) {
  const Figure figure = GetParam().make();
  if (updating()) write_figure(stored(".png"), figure, kOptions);
  EXPECT_TRUE(same_pixels(decode_figure(encode_figure(FigureFormat::kPng, figure, kOptions).bytes),
                          decode_figure(read_text_file(stored(".png")))));
}

INSTANTIATE_TEST_SUITE_P(Figures, Golden, testing::ValuesIn(samples::all()),
                         [](const auto& test) { return test.param.name; });

class Mutated : public testing::TestWithParam<samples::Mutation> {};

TEST_P(Mutated, ShowsInThePicture) {
  const auto draw = [](const Figure& figure) {
    return decode_figure(encode_figure(FigureFormat::kPng, figure, kOptions).bytes);
  };
  EXPECT_TRUE(same_pixels(draw(GetParam().before), draw(GetParam().before)));
  EXPECT_FALSE(same_pixels(draw(GetParam().before), draw(GetParam().after)));
}

TEST_P(Mutated, ShowsInTheDrawing) {
  const auto draw = [](const Figure& figure) {
    return encode_figure(FigureFormat::kSvg, figure, kOptions).bytes;
  };
  EXPECT_TRUE(same_drawing(draw(GetParam().before), draw(GetParam().before)));
  EXPECT_FALSE(same_drawing(draw(GetParam().before), draw(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(Figures, Mutated, testing::ValuesIn(samples::all_mutations()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace fovea
