#include "fovea/figure/box_labels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea {
namespace {

double overlap(const Rect& a, const Rect& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

Rect moved_inside(Rect rect, const Rect& area) {
  rect.x = std::max(area.x, std::min(rect.x, area.x + area.width - rect.width));
  rect.y = std::max(area.y, std::min(rect.y, area.y + area.height - rect.height));
  return rect;
}

// The best places first; then every line of the picture, the nearest first.
std::vector<Rect> candidates(const BoxLabel& label, const Rect& picture) {
  const Rect& box = label.box;
  const double right = box.x + box.width - label.width;
  const double bottom = box.y + box.height;
  std::vector<Rect> places;
  const auto add = [&](double x, double y) {
    places.push_back(moved_inside({x, y, label.width, label.height}, picture));
  };
  if (box.y - label.height >= picture.y) add(box.x, box.y - label.height);
  add(box.x, box.y);
  add(right, box.y);
  if (box.y - label.height >= picture.y) add(right, box.y - label.height);
  add(box.x, bottom - label.height);
  add(right, bottom - label.height);
  if (bottom + label.height <= picture.y + picture.height) add(box.x, bottom);
  const double lines = label.height > 0 ? std::floor(picture.height / label.height) : 0;
  for (double line = 1; line < lines; ++line) {
    add(box.x, box.y + line * label.height);
    add(box.x, box.y - (line + 1) * label.height);
  }
  return places;
}

}  // namespace

std::vector<Rect> place_labels(const std::vector<BoxLabel>& labels, const Rect& picture) {
  std::vector<Rect> placed;
  for (const BoxLabel& label : labels) {
    if (label.width <= 0) {
      placed.push_back({label.box.x, label.box.y, 0, 0});
      continue;
    }
    Rect best;
    double least = std::numeric_limits<double>::infinity();
    for (const Rect& place : candidates(label, picture)) {
      double covered = 0;
      for (const Rect& other : placed) covered += overlap(place, other);
      if (covered >= least) continue;
      best = place;
      least = covered;
      if (covered == 0) break;
    }
    placed.push_back(best);
  }
  return placed;
}

}  // namespace fovea
