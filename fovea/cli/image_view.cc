#include "fovea/cli/image_view.h"

namespace fovea {

std::vector<ImageView> image_views() {
  return {image_maps_view(), image_lost_view(), image_tokencut_view()};
}

}  // namespace fovea
