// DeiT (Touvron et al. 2020, arXiv:2012.12877): ViT with a second token in front that learned from
// a teacher.
#include "fovea/models/vit_model.h"

namespace fovea {
namespace {

std::unique_ptr<Model> build_deit(const ModelSource& source) {
  return std::make_unique<VitModel>(source,
                                    VitModel::Options{.prefix = "deit.", .distilled = true});
}

}  // namespace

Architecture deit_architecture() {
  return {.name = "deit",
          .covers = "DeiT with its distillation token",
          .model_types = {"deit"},
          .not_needed = {"mask_token", "pooler", "decoder"},
          .build = build_deit};
}

}  // namespace fovea
