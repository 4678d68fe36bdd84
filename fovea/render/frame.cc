#include "fovea/render/frame.h"

#include <algorithm>
#include <utility>

namespace fovea {
namespace {

constexpr double kMargin = 28;
constexpr double kNarrowestText = 500;   // of the text, where the drawing is smaller
constexpr double kTextWidest = 760;      // longer lines are hard to read
constexpr double kBelowFigureTitle = 3;  // to the subtitle
constexpr double kBelowTitle = 18;
constexpr double kAboveCaption = 20;
constexpr TextStyle kFigureTitleStyle{.size = 15, .color = kInk, .strong = true};
constexpr TextStyle kBadgeStyle{.size = 10.5, .color = kWhite, .strong = true};
constexpr TextStyle kCaptionStyle{.size = 11, .color = kMuted};

constexpr double kBadgePadding = 7;

// A filled label below the title.
void draw_badge(Canvas& canvas, const TextBlock& badge, Point at) {
  canvas.fill_rounded({at.x, at.y, badge.width() + 2 * kBadgePadding, badge.height() + 6}, 4,
                      kAccent);
  canvas.text(badge, {at.x + kBadgePadding, at.y + 3});
}

}  // namespace

Body framed(Body body, const FigureText& text) {
  const double text_width =
      std::clamp(body.width, kNarrowestText, std::max(kTextWidest, kNarrowestText));
  TextBlock title;
  TextBlock caption;
  if (!text.title.empty()) title = TextBlock::paragraph(text.title, kFigureTitleStyle, text_width);
  if (!text.caption.empty()) {
    caption = TextBlock::paragraph(text.caption, kCaptionStyle, text_width);
  }
  TextBlock badge;
  if (!text.badge.empty()) {
    badge = TextBlock::line(text.badge, kBadgeStyle, text_width - 2 * kBadgePadding);
  }
  TextBlock subtitle;
  if (!text.subtitle.empty()) {
    subtitle = TextBlock::paragraph(text.subtitle, kCaptionStyle, text_width);
  }
  const double subtitle_top = kMargin + title.height() + kBelowFigureTitle;
  const double words_bottom =
      subtitle.empty() ? kMargin + title.height() : subtitle_top + subtitle.height();
  const double badge_top = title.empty() ? kMargin : words_bottom + 8;
  const double title_bottom = badge.empty() ? words_bottom : badge_top + badge.height() + 6;
  const double body_top = title.empty() && badge.empty() ? kMargin : title_bottom + kBelowTitle;
  const double caption_top = body_top + body.height + kAboveCaption;
  Body result;
  result.cell = body.cell;
  result.width = std::max({body.width, title.width(), caption.width()}) + 2 * kMargin;
  result.height =
      (caption.empty() ? body_top + body.height : caption_top + caption.height()) + kMargin;
  result.draw = [=](Canvas& canvas, Point at) {
    canvas.text(title, {at.x + kMargin, at.y + kMargin});
    canvas.text(subtitle, {at.x + kMargin, at.y + subtitle_top});
    if (!badge.empty()) draw_badge(canvas, badge, {at.x + kMargin, at.y + badge_top});
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
