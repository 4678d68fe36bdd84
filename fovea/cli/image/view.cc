#include "fovea/cli/image/view.h"

namespace fovea {

std::vector<ImageView> image_views() {
  return {image_maps_view(),      image_composite_view(), image_lost_view(),
          image_tokencut_view(),  image_kernels_view(),   image_convolution_view(),
          image_distances_view(), image_field_view()};
}

}  // namespace fovea
