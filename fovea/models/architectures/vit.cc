// ViT, also as DINO's first version trained it (Caron et al. 2021, arXiv:2104.14294).
#include "fovea/models/vit_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_vit(const ModelSource& source) {
  return std::make_unique<VitModel>(source, VitModel::Options{});
}

}  // namespace

Architecture vit_architecture() {
  return {.name = "vit",
          .covers = "ViT, DINO, DeiT without distillation",
          .model_types = {"vit"},
          .not_needed = {"mask_token", "pooler", "decoder"},
          .build = build_vit};
}

}  // namespace fovea
