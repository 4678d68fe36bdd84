// DINOv2 (Oquab et al. 2023, arXiv:2304.07193), without and with registers.
#pragma once

#include "fovea/layers/norm_block.h"
#include "fovea/models/picture_model.h"

namespace fovea {

class Dinov2Model final : public PictureModel {
 public:
  struct Options {
    std::string_view prefix = "dinov2.";  // of the stack's weights, in a model with a head
    bool registers = false;
    int64_t patch_size = 14;  // if the configuration does not say
    BicubicFilter positions = BicubicFilter::kPlain;
  };
  Dinov2Model(const ModelSource& source, const Options& options);

 private:
  Dinov2Model(const ModelSource& source, const Options& options, const LayerSource& all);
  Dinov2Model(const ModelSource& source, const Options& options, const LayerSource& all,
              const LayerSource& base);
  PictureStates hidden(const Value& pixels, const Pass& pass) const override;

  AttentionSizes sizes_;
  int64_t registers_;
  PictureEmbedding embed_;
  std::vector<PreNormBlock> blocks_;
  Norm norm_;
};

}  // namespace fovea
