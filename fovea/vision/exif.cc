#include "fovea/vision/exif.h"

#include <optional>
#include <string_view>

namespace fovea {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
// Types of an entry that are one number, by their bytes.
constexpr uint32_t kShortType = 3;  // 2 bytes, what the standard asks for
constexpr uint32_t kLongType = 4;   // 4 bytes, what some write

class TiffBytes {
 public:
  explicit TiffBytes(Bytes bytes) : bytes_(bytes) {
    big_endian_ = as_text(bytes).starts_with("MM");
  }

  std::optional<uint32_t> read(size_t offset, size_t count) const {
    if (offset > bytes_.size() || bytes_.size() - offset < count) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = big_endian_ ? i : count - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes_[offset + at]);
    }
    return value;
  }

 private:
  Bytes bytes_;
  bool big_endian_ = false;
};

}  // namespace

Orientation exif_orientation(Bytes exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (as_text(exif).starts_with(kPrefix)) exif = exif.subspan(kPrefix.size());
  if (!as_text(exif).starts_with("MM") && !as_text(exif).starts_with("II")) {
    return Orientation::kUpright;
  }
  const TiffBytes tiff(exif);
  const uint32_t directory = tiff.read(4, 4).value_or(0);
  const uint32_t entries = tiff.read(directory, 2).value_or(0);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = size_t{directory} + 2 + size_t{i} * 12;
    if (tiff.read(entry, 2) != kOrientationTag) continue;
    const uint32_t type = tiff.read(entry + 2, 2).value_or(0);
    if ((type != kShortType && type != kLongType) || tiff.read(entry + 4, 4) != 1) continue;
    const uint32_t value = tiff.read(entry + 8, type == kShortType ? 2 : 4).value_or(0);
    if (value >= 1 && value <= 8) return static_cast<Orientation>(value);
  }
  return Orientation::kUpright;
}

}  // namespace fovea
