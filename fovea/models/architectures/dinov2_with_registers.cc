// DINOv2 with registers (Darcet et al. 2023, arXiv:2309.16588): tokens in front that take up what
// patches without content did before.
#include "fovea/models/dinov2_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_dinov2_with_registers(const ModelSource& source) {
  return std::make_unique<Dinov2Model>(
      source, Dinov2Model::Options{.prefix = "dinov2_with_registers.",
                                   .registers = true,
                                   .patch_size = 16,
                                   .positions = BicubicFilter::kAntialias});
}

}  // namespace

Architecture dinov2_with_registers_architecture() {
  return {.name = "dinov2_with_registers",
          .covers = "DINOv2 with registers",
          .model_types = {"dinov2_with_registers"},
          .not_needed = {"mask_token", "register_tokens"},
          .build = build_dinov2_with_registers};
}

}  // namespace fovea
