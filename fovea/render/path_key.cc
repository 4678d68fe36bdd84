#include "fovea/render/path_key.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fovea/figure/contour.h"

namespace fovea {
namespace {

constexpr double kKeySide = 124;  // of the longer side
constexpr double kKeyTitle = 18;
constexpr double kKeyShade = 0.45;  // how much black lies over the picture
constexpr TextStyle kLetterStyle{.size = 9, .color = kWhite, .strong = true};

CanvasPicture shaded(const PathKey& key) {
  CellImage image{.width = std::max<int64_t>(key.picture.width, 1),
                  .height = std::max<int64_t>(key.picture.height, 1),
                  .pixels = {}};
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const Rgb color = key.picture.bytes.empty() ? Rgb{150, 150, 158} : key.picture.at(x, y);
      image.pixels.push_back(opaque_pixel(mix(color, {0, 0, 0}, kKeyShade)));
    }
  }
  return CanvasPicture(image, /*smooth=*/true);
}

}  // namespace

PathKeyPicture::PathKeyPicture(const PathKey& key)
    : rows_(key.rows),
      cols_(key.cols),
      picture_(shaded(key)),
      title_(TextBlock::line("where A to " + PathKey::letter(PathKey::kSections - 1) + " lie",
                             kNoteStyle)) {
  const bool empty = key.picture.bytes.empty();
  const auto wide = static_cast<double>(empty ? key.cols : key.picture.width);
  const auto high = static_cast<double>(empty ? key.rows : key.picture.height);
  picture_width_ = std::round(kKeySide * wide / std::max(wide, high));
  picture_height_ = std::round(kKeySide * high / std::max(wide, high));
  for (int64_t section = 0; section < PathKey::kSections; ++section) {
    std::vector<bool> inside;
    Point sum{};
    double count = 0;
    for (size_t cell = 0; cell < key.section.size(); ++cell) {
      inside.push_back(key.section[cell] == section);
      if (!inside.back()) continue;
      sum.x += static_cast<double>(static_cast<int64_t>(cell) % cols_) + 0.5;
      sum.y += static_cast<double>(static_cast<int64_t>(cell) / cols_) + 0.5;
      ++count;
    }
    if (count == 0) continue;
    std::ranges::move(edges_of(inside, rows_, cols_), std::back_inserter(edges_));
    letters_.push_back(
        {{sum.x / count, sum.y / count}, TextBlock::line(PathKey::letter(section), kLetterStyle)});
  }
}

double PathKeyPicture::width() const {
  return std::max(picture_width_, title_.width());
}

double PathKeyPicture::height() const {
  return kKeyTitle + picture_height_;
}

void PathKeyPicture::draw(Canvas& canvas, Point at) const {
  canvas.text(title_, at);
  const Point corner = on_grid({at.x, at.y + kKeyTitle});
  canvas.picture(picture_, {corner.x, corner.y, picture_width_, picture_height_});
  const auto placed = [&](Point cell) {
    return Point{corner.x + cell.x * picture_width_ / static_cast<double>(cols_),
                 corner.y + cell.y * picture_height_ / static_cast<double>(rows_)};
  };
  auto edges = edges_;
  for (auto& line : edges) std::ranges::transform(line, line.begin(), placed);
  canvas.polylines(edges, {.color = kWhite, .width = 0.6});
  for (const Letter& letter : letters_) {
    const Point middle = placed(letter.place);
    canvas.text(letter.text, {middle.x - letter.text.width() / 2,
                              middle.y + letter.text.cap_height() / 2 - letter.text.baseline()});
  }
}

}  // namespace fovea
