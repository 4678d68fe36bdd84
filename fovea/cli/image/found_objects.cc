#include "fovea/cli/image/found_objects.h"

#include "fovea/explain/pictures/patch_keys.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

struct Keys {
  Tensor keys;
  GridShape grid;
};

Keys keys_of(const Run& run, std::optional<int64_t> layer) {
  const auto record = picture_record(run, layer);
  const PictureAxis axis = PictureAxis::of(*run.find_axis("patches"));
  return {patch_keys(*record, axis), axis.grid};
}

}  // namespace

LostObject find_lost(const Run& run, std::optional<int64_t> layer) {
  const Keys found = keys_of(run, layer);
  return lost(found.keys, found.grid);
}

TokenCutObject find_token_cut(const Run& run, std::optional<int64_t> layer) {
  const Keys found = keys_of(run, layer);
  return token_cut(found.keys, found.grid);
}

MassMasks find_mass_masks(const Run& run, std::optional<int64_t> layer, double share) {
  PictureChoice choice{.layer = layer, .mask = share};
  MassMasks masks;
  for (PatchMap& map : patch_maps(run, choice).maps) masks.heads.push_back(std::move(*map.mask));
  choice.head.kind = HeadChoice::Kind::kMean;
  masks.mean = std::move(*patch_maps(run, choice).maps.front().mask);
  return masks;
}

}  // namespace fovea
