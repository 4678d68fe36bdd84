#include "fovea/explain/pictures/picture_score.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double share(double part, int64_t whole) {
  return whole == 0 ? 0 : part / static_cast<double>(whole);
}

void check_same_size(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  if (a.size() == b.size()) return;
  fail(ErrorKind::kInvalidArgument,
       "a mask of {} cells cannot be compared with one of {}; bring both to one size", a.size(),
       b.size());
}

double overlap_ratio(int64_t both, int64_t either) {
  return either == 0 ? 1 : static_cast<double>(both) / static_cast<double>(either);
}

}  // namespace

std::array<double, 256> jaccard_of_objects(std::span<const uint8_t> mask,
                                           std::span<const uint8_t> labels) {
  check_same_size(mask, labels);
  std::array<int64_t, 256> size{}, inside{};  // of each object: its pixels, those in the mask
  for (size_t i = 0; i < labels.size(); ++i) {
    ++size[labels[i]];
    if (mask[i] != 0) ++inside[labels[i]];
  }
  const auto all = static_cast<int64_t>(labels.size());
  const int64_t masked = std::accumulate(inside.begin(), inside.end(), int64_t{0});
  std::array<double, 256> result;
  result[0] = overlap_ratio(masked - inside[0], all - size[0] + inside[0]);
  for (size_t k = 1; k < result.size(); ++k) {
    result[k] = overlap_ratio(inside[k], size[k] + masked - inside[k]);
  }
  return result;
}

double PictureBox::area() const {
  return std::max(0.0, right - left) * std::max(0.0, bottom - top);
}

double iou(const PictureBox& a, const PictureBox& b) {
  const PictureBox both{std::max(a.left, b.left), std::max(a.top, b.top),
                        std::min(a.right, b.right), std::min(a.bottom, b.bottom)};
  const double whole = a.area() + b.area() - both.area();
  return whole > 0 ? both.area() / whole : 0;
}

void MaskScore::add(std::span<const double> jaccards) {
  if (jaccards.empty()) return;
  ++pictures;
  objects += static_cast<int64_t>(jaccards.size());
  sum += share(std::accumulate(jaccards.begin(), jaccards.end(), 0.0),
               static_cast<int64_t>(jaccards.size()));
}

double MaskScore::mean() const {
  return share(sum, pictures);
}

void BoxScore::add(const PictureBox& predicted, std::span<const PictureBox> truth) {
  if (truth.empty()) return;
  double best = 0;
  for (const PictureBox& box : truth) best = std::max(best, iou(predicted, box));
  ++pictures;
  correct += best >= threshold ? 1 : 0;
  iou_sum += best;
}

double BoxScore::corloc() const {
  return share(static_cast<double>(correct), pictures);
}

double BoxScore::mean_iou() const {
  return share(iou_sum, pictures);
}

}  // namespace fovea
