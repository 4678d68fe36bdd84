// Portable maps: P2 and P5 (grey), P3 and P6 (colour), as text or bytes, up to 16 bits a sample.
#include <charconv>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/vision/picture_reader.h"

namespace fovea {
namespace {

class PnmText {
 public:
  PnmText(const PictureSource& source, size_t position)
      : source_(source), text_(as_text(source.bytes)), position_(position) {}

  // The next number; spaces and comments before it are skipped.
  int64_t next(std::string_view what) {
    skip_to_number();
    int64_t value = 0;
    const char* begin = text_.data() + position_;
    const char* end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || value < 0) {
      fail_corrupt(source_, "PNM",
                   position_ >= text_.size() ? fmt::format("no {}; it ends there", what)
                                             : fmt::format("no {} at byte {}", what, position_));
    }
    position_ += static_cast<size_t>(rest - begin);
    return value;
  }
  // Past the one space that ends a header.
  size_t after_space() {
    if (position_ >= text_.size() || kBlanks.find(text_[position_]) == std::string_view::npos) {
      fail_corrupt(source_, "PNM", "no space after its header");
    }
    return position_ + 1;
  }

 private:
  void skip_to_number() {
    while (position_ < text_.size()) {
      if (text_[position_] == '#') {
        position_ = std::min(text_.find_first_of("\r\n", position_), text_.size());
      } else if (kBlanks.find(text_[position_]) != std::string_view::npos) {
        ++position_;
      } else {
        return;
      }
    }
  }

  const PictureSource& source_;
  std::string_view text_;
  size_t position_;
};

// To 0 … 255, halves to even, as Pillow does.
uint8_t scaled(int64_t value, int64_t most) {
  const double part = static_cast<double>(value) / static_cast<double>(most);
  return static_cast<uint8_t>(std::min(255.0, std::nearbyint(part * 255)));
}

}  // namespace

DecodedPicture read_pnm(const PictureSource& source) {
  const char kind = as_text(source.bytes)[1];
  const bool plain = kind == '2' || kind == '3';
  const bool grey = kind == '2' || kind == '5';
  PnmText text(source, 2);
  const int64_t width = text.next("width");
  const int64_t height = text.next("height");
  const int64_t most = text.next("largest value");
  check_picture_size(source, width, height);
  if (most < 1 || most > 65535) {
    fail_corrupt(source, "PNM", fmt::format("its largest value is {}, not 1 to 65535", most));
  }
  const int64_t samples = width * height * (grey ? 1 : 3);
  const int64_t sample_bytes = most > 255 ? 2 : 1;
  const size_t start = text.after_space();
  // A sample of text is a digit and a space.
  const int64_t needed = plain ? samples * 2 - 1 : samples * sample_bytes;
  const auto present = static_cast<int64_t>(source.size() - start);
  if (present < needed) {
    fail_corrupt(
        source, "PNM",
        fmt::format("{} x {} pixels need {} bytes, {} are there", width, height, needed, present));
  }
  DecodedPicture decoded{.picture = Picture(width, height)};
  const uint8_t* byte = source.data() + start;
  uint8_t* target = decoded.picture.bytes.data();
  for (int64_t i = 0; i < samples; ++i) {
    int64_t value = 0;
    if (plain) {
      value = text.next("sample");
    } else {
      for (int64_t part = 0; part < sample_bytes; ++part) value = value << 8 | *byte++;
    }
    if (plain && value > most) {
      fail_corrupt(source, "PNM", fmt::format("a sample of {} above its largest, {}", value, most));
    }
    const uint8_t level = scaled(value, most);
    for (int copy = 0; copy < (grey ? 3 : 1); ++copy) *target++ = level;
  }
  return decoded;
}

}  // namespace fovea
