// ViT (Dosovitskiy et al. 2020, arXiv:2010.11929) with the names of its weights, which DeiT shares.
#pragma once

#include "fovea/layers/norm_block.h"
#include "fovea/models/picture_model.h"

namespace fovea {

class VitModel final : public PictureModel {
 public:
  struct Options {
    std::string_view prefix = "vit.";  // of the stack's weights, in a model with a head
    bool distilled = false;            // DeiT's second token in front
  };
  VitModel(const ModelSource& source, const Options& options);

 private:
  VitModel(const ModelSource& source, const Options& options, const LayerSource& all);
  VitModel(const ModelSource& source, const Options& options, const LayerSource& all,
           const LayerSource& base);
  void load_top(const ModelSource& source, const LayerSource& all, const LayerSource& base);
  PictureStates hidden(const Value& pixels, const Pass& pass) const override;

  AttentionSizes sizes_;
  PictureEmbedding embed_;
  std::vector<PreNormBlock> blocks_;
  Norm norm_;
};

}  // namespace fovea
