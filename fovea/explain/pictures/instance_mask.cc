#include "fovea/explain/pictures/instance_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/explain/pictures/otsu.h"

namespace fovea {
namespace {

constexpr std::array<MaskCut, 3> kCuts = {MaskCut::kOtsu, MaskCut::kMass, MaskCut::kMaximum};

GridMask maximum_mask(GridShape grid, std::span<const double> weights, double share) {
  if (static_cast<int64_t>(weights.size()) != grid.patches() ||
      !std::ranges::all_of(weights, [](double w) { return w >= 0 && std::isfinite(w); })) {
    fail(ErrorKind::kInvalidArgument,
         "a mask of {} x {} cells needs one finite weight of 0 or more for each, but {} were given",
         grid.rows, grid.cols, weights.size());
  }
  GridMask mask(grid);
  const double largest = weights.empty() ? 0 : std::ranges::max(weights);
  if (largest <= 0) return mask;
  for (size_t i = 0; i < weights.size(); ++i) mask.cells[i] = weights[i] >= share * largest ? 1 : 0;
  return mask;
}

}  // namespace

double default_share(MaskCut cut) {
  return cut == MaskCut::kOtsu ? 0 : cut == MaskCut::kMass ? kMassShare : 0.25;
}

std::string_view name_of(MaskCut cut) {
  return cut == MaskCut::kOtsu ? "otsu" : cut == MaskCut::kMass ? "mass" : "maximum";
}

MaskRule parse_mask_rule(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const MaskCut cut : kCuts) {
    if (name != name_of(cut)) continue;
    if (colon == text.npos) return {cut, default_share(cut)};
    const auto share = parse_number<double>(text.substr(colon + 1));
    if (cut == MaskCut::kOtsu || !share || !(*share > 0 && *share <= 1)) break;
    return {cut, *share};
  }
  fail(ErrorKind::kInvalidArgument,
       "'{}' is no threshold of masks; there are otsu, mass:SHARE and maximum:SHARE with a share "
       "above 0 and up to 1",
       text);
}

std::string to_string(const MaskRule& rule) {
  if (rule.cut == MaskCut::kOtsu) return "otsu";
  return fmt::format("{}:{:g}", name_of(rule.cut),
                     rule.share > 0 ? rule.share : default_share(rule.cut));
}

GridMask cut_weights(GridShape grid, std::span<const double> weights, const MaskRule& rule) {
  const double share = rule.share > 0 ? rule.share : default_share(rule.cut);
  switch (rule.cut) {
    case MaskCut::kOtsu:
      return otsu_mask(grid, weights);
    case MaskCut::kMass:
      return mass_mask(grid, weights, share);
    case MaskCut::kMaximum:
      return maximum_mask(grid, weights, share);
  }
  fail(ErrorKind::kInternal, "an unknown threshold of masks");
}

PixelMask mask_of_logits(GridShape grid, std::span<const double> logits, GridCover cover,
                         int64_t width, int64_t height) {
  return pixels_above(grid, logits, 0.0, cover, width, height);  // sigmoid(0) is one half
}

}  // namespace fovea
