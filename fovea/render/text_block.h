// A piece of shaped text: measured before anything is drawn. Scripts, directions, combining marks
// and emoji are pango's work; each block is its own paragraph, so directions never leak out of it.
#pragma once

#include <pango/pango.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "fovea/figure/color_map.h"

namespace fovea {

struct TextStyle {
  double size = 11;
  Rgb color{0x1b, 0x1b, 0x1f};
  bool strong = false;
};

class TextBlock {
 public:
  TextBlock() = default;
  // One line: what would break it is shown as an escape. Above `widest` (0: no limit) it ends in an
  // ellipsis.
  static TextBlock line(std::string_view text, const TextStyle& style, double widest = 0);
  // Wrapped at `width`; \n starts a new paragraph.
  static TextBlock paragraph(std::string_view text, const TextStyle& style, double width);
  // One character below the other, for upright labels of Chinese, Japanese and Korean.
  static TextBlock stacked(std::string_view text, const TextStyle& style);

  double width() const { return width_; }
  double height() const { return height_; }
  double baseline() const { return baseline_; }  // of the first line, from the top
  // From the baseline to the top of a capital letter; what looks centred is centred by this.
  double cap_height() const { return style_.size * 0.727; }
  const TextStyle& style() const { return style_; }
  bool empty() const { return layout_ == nullptr; }
  PangoLayout* layout() const { return layout_.get(); }

 private:
  friend TextBlock adopt_layout(PangoLayout* layout, const TextStyle& style);
  std::shared_ptr<PangoLayout> layout_;
  TextStyle style_;
  double width_ = 0;
  double height_ = 0;
  double baseline_ = 0;
};

// Takes the layout over and measures it.
TextBlock adopt_layout(PangoLayout* layout, const TextStyle& style);
// A new layout of valid text in this style; the caller owns it.
PangoLayout* new_layout(const std::string& text, const TextStyle& style);

// True if every character is wide (Han, kana, Hangul, emoji): such labels stay upright.
bool is_upright_script(std::string_view text);

}  // namespace fovea
