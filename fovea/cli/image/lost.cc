// LOST: an object around the patch that is similar to the fewest others.
#include "fovea/cli/image/found_objects.h"
#include "fovea/cli/image/object.h"
#include "fovea/cli/image/parts.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

Content make_lost(const ImageRun& run) {
  const std::optional<int64_t> layer = one_layer(run.args);
  LostObject found = find_lost(run.result.run, layer);
  FoundObject object{.method = "LOST",
                     .site = picture_record(run.result.run, layer)->site,
                     .map = "similar patches",
                     .seed_rule = "whose key is similar to the fewest others",
                     .rule = "similar to the seed and to those like it",
                     .values = {found.degrees.begin(), found.degrees.end()},
                     .seed = found.seed,
                     .foreground = std::move(found.foreground),
                     .mask = std::move(found.mask),
                     .box = found.box};
  return object_content(run, object);
}

}  // namespace

ImageView image_lost_view() {
  return {.name = "lost",
          .summary = "one object by LOST, with its mask and box",
          .options = object_options(),
          .check = [](const Args& args) { one_layer(args); },
          .make = make_lost};
}

}  // namespace fovea
