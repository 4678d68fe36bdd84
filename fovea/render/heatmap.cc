#include "fovea/render/heatmap.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 28;
constexpr Rgb kBackground{255, 255, 255};
constexpr Rgb kHatchLight{0xe4, 0xe4, 0xe7};
constexpr Rgb kHatchDark{0xc4, 0xc4, 0xca};

// Diagonal stripes that go on from square to square.
Rgb hatch(int64_t x, int64_t y, int64_t cell) {
  const int64_t period = std::clamp<int64_t>(cell / 4, 2, 8);
  return (x + y) % period < period / 2 ? kHatchDark : kHatchLight;
}

void fill(RgbImage& image, int64_t x, int64_t y, int64_t width, int64_t height, Rgb color) {
  for (int64_t row = y; row < y + height; ++row) {
    for (int64_t column = x; column < x + width; ++column) image.set(column, row, color);
  }
}

float largest_entry(std::span<const MatrixView<const float>> panels) {
  float largest = 0;
  for (const auto& panel : panels) {
    for (int64_t r = 0; r < panel.rows; ++r) {
      for (int64_t c = 0; c < panel.cols; ++c) {
        if (std::isfinite(panel(r, c))) largest = std::max(largest, panel(r, c));
      }
    }
  }
  return largest > 0 ? largest : 1;  // all zero: everything is the lowest colour
}

int64_t sensible_cell(int64_t rows, int64_t cols) {
  constexpr int64_t kWanted = 560;  // a small map is drawn about this large
  constexpr int64_t kLargest =
      2048;  // and a large one at most this large, one pixel per entry at least
  const int64_t side = std::max(rows, cols);
  const int64_t comfortable = std::clamp<int64_t>(kWanted / side, 16, 64);
  return std::max<int64_t>(std::min(comfortable, kLargest / side), 1);
}

}  // namespace

RgbImage::RgbImage(int64_t image_width, int64_t image_height, Rgb fill_color)
    : width(image_width), height(image_height) {
  if (width < 0 || height < 0 || (width > 0 && height > kMostPixels / width)) {
    fail(ErrorKind::kInvalidArgument,
         "a picture of {} x {} pixels cannot be made; the most is {} pixels", width, height,
         kMostPixels);
  }
  bytes.resize(static_cast<size_t>(width * height * 3));
  fill(*this, 0, 0, width, height, fill_color);
}

Rgb RgbImage::at(int64_t x, int64_t y) const {
  FOVEA_ASSERT(x >= 0 && x < width && y >= 0 && y < height);
  const uint8_t* pixel = bytes.data() + (y * width + x) * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

void RgbImage::set(int64_t x, int64_t y, Rgb color) {
  FOVEA_ASSERT(x >= 0 && x < width && y >= 0 && y < height);
  uint8_t* pixel = bytes.data() + (y * width + x) * 3;
  pixel[0] = color.red;
  pixel[1] = color.green;
  pixel[2] = color.blue;
}

void RgbImage::paste(const RgbImage& part, int64_t x, int64_t y) {
  if (x < 0 || y < 0 || part.width > width - x || part.height > height - y) {
    fail(ErrorKind::kInvalidArgument, "{} x {} pixels at {}, {} do not fit into {} x {}",
         part.width, part.height, x, y, width, height);
  }
  for (int64_t row = 0; row < part.height; ++row) {
    std::copy_n(part.bytes.begin() + row * part.width * 3, part.width * 3,
                bytes.begin() + ((y + row) * width + x) * 3);
  }
}

RgbImage heatmap(MatrixView<const float> values, const HeatmapStyle& style,
                 const ColorMap& colors) {
  if (style.cell < 1 || !(style.high > style.low)) {
    fail(ErrorKind::kInvalidArgument,
         "a heatmap with squares of {} pixels from {} to {} cannot be drawn", style.cell, style.low,
         style.high);
  }
  // Looked at before they are multiplied, so that a huge map is refused and not an overflow.
  const int64_t limit = kMostPixels / style.cell;
  if (values.rows > limit || values.cols > limit) {
    fail(ErrorKind::kInvalidArgument, "a heatmap of {} x {} squares of {} pixels is too large",
         values.rows, values.cols, style.cell);
  }
  RgbImage image(values.cols * style.cell, values.rows * style.cell);
  for (int64_t r = 0; r < values.rows; ++r) {
    for (int64_t c = 0; c < values.cols; ++c) {
      const int64_t x = c * style.cell;
      const int64_t y = r * style.cell;
      if (!std::isnan(values(r, c))) {
        const double position = (values(r, c) - style.low) / (style.high - style.low);
        fill(image, x, y, style.cell, style.cell, colors.at(position));
        continue;
      }
      for (int64_t dy = 0; dy < style.cell; ++dy) {
        for (int64_t dx = 0; dx < style.cell; ++dx) {
          image.set(x + dx, y + dy, hatch(x + dx, y + dy, style.cell));
        }
      }
    }
  }
  return image;
}

RgbImage heatmap_row(std::span<const MatrixView<const float>> panels, const ColorMap& colors) {
  int64_t rows = 0;
  int64_t cols = 0;
  for (const auto& panel : panels) {
    rows = std::max(rows, panel.rows);
    cols = std::max(cols, panel.cols);
  }
  if (rows == 0 || cols == 0) {
    fail(ErrorKind::kInvalidArgument, "a heatmap of {} x {} entries cannot be drawn", rows, cols);
  }
  const HeatmapStyle style{
      .cell = sensible_cell(rows, cols), .low = 0, .high = largest_entry(panels)};
  const int64_t margin = std::clamp<int64_t>(style.cell, 16, 32);
  const int64_t bar = margin / 2;
  int64_t width = margin + bar + margin;
  for (const auto& panel : panels) width += panel.cols * style.cell + margin;
  RgbImage figure(width, rows * style.cell + 2 * margin, kBackground);
  int64_t x = margin;
  for (const auto& panel : panels) {
    figure.paste(heatmap(panel, style, colors), x, margin);
    x += panel.cols * style.cell + margin;
  }
  const int64_t height = rows * style.cell;
  for (int64_t y = 0; y < height; ++y) {
    const double position =
        height == 1 ? 1 : 1 - static_cast<double>(y) / static_cast<double>(height - 1);
    fill(figure, x, margin + y, bar, 1, colors.at(position));
  }
  return figure;
}

}  // namespace fovea
