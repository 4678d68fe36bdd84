#include "fovea/render/frame.h"

#include <algorithm>
#include <utility>

namespace fovea {
namespace {

constexpr double kMargin = 28;
constexpr double kNarrowest = 500;   // of the text, where the drawing is smaller
constexpr double kTextWidest = 760;  // longer lines are hard to read
constexpr double kBelowTitle = 18;
constexpr double kAboveCaption = 20;
constexpr TextStyle kTitleStyle{.size = 15, .color = kInk, .strong = true};
constexpr TextStyle kCaptionStyle{.size = 11, .color = kMuted};

}  // namespace

Body framed(Body body, const FigureText& text) {
  const double text_width = std::clamp(body.width, kNarrowest, std::max(kTextWidest, kNarrowest));
  TextBlock title;
  TextBlock caption;
  if (!text.title.empty()) title = TextBlock::paragraph(text.title, kTitleStyle, text_width);
  if (!text.caption.empty()) {
    caption = TextBlock::paragraph(text.caption, kCaptionStyle, text_width);
  }
  const double body_top = kMargin + (title.empty() ? 0 : title.height() + kBelowTitle);
  const double caption_top = body_top + body.height + kAboveCaption;
  Body result;
  result.cell = body.cell;
  result.width = std::max({body.width, title.width(), caption.width()}) + 2 * kMargin;
  result.height =
      (caption.empty() ? body_top + body.height : caption_top + caption.height()) + kMargin;
  result.draw = [=](Canvas& canvas, Point at) {
    canvas.text(title, {at.x + kMargin, at.y + kMargin});
    body.draw(canvas, {at.x + kMargin, at.y + body_top});
    canvas.text(caption, {at.x + kMargin, at.y + caption_top});
  };
  return result;
}

Body stacked(std::vector<Body> parts, double space) {
  Body result;
  for (const Body& part : parts) {
    result.width = std::max(result.width, part.width);
    result.height += part.height + (result.height > 0 ? space : 0);
    if (part.cell > 0) result.cell = result.cell > 0 ? std::min(result.cell, part.cell) : part.cell;
  }
  result.draw = [parts = std::move(parts), space](Canvas& canvas, Point at) {
    for (const Body& part : parts) {
      part.draw(canvas, at);
      at.y += part.height + space;
    }
  };
  return result;
}

}  // namespace fovea
