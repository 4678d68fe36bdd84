// DINOv2 (Oquab et al. 2023, arXiv:2304.07193).
#include "fovea/models/dinov2_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_dinov2(const ModelSource& source) {
  return std::make_unique<Dinov2Model>(source, Dinov2Model::Options{});
}

}  // namespace

Architecture dinov2_architecture() {
  return {.name = "dinov2",
          .covers = "DINOv2",
          .model_types = {"dinov2"},
          .not_needed = {"mask_token"},
          .build = build_dinov2};
}

}  // namespace fovea
