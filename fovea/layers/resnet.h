// The residual network of convolutions below a detector (He et al. 2016, arXiv:1512.03385), under
// transformers' names or timm's. Batch norm is folded into the convolutions.
#pragma once

#include <optional>
#include <vector>

#include "fovea/layers/layer_source.h"
#include "fovea/layers/pass.h"
#include "fovea/ops/conv.h"

namespace fovea {

struct ResNetSizes {
  int64_t channels = 3;
  int64_t stem = 64;            // what the first convolution gives
  std::vector<int64_t> widths;  // of what each stage gives
  std::vector<int64_t> depths;  // blocks of each stage
  bool bottleneck = true;  // blocks of 1 x 1, 3 x 3, 1 x 1 convolutions; otherwise two of 3 x 3
  bool stride_in_first_stage = false;
  bool stride_in_first_conv = false;  // of a bottleneck; otherwise in its 3 x 3
  // Stages beyond this stride are dilated in the place of a step: 16 is DETR's "DC5".
  int64_t most_stride = 32;

  // As "backbone_config" of transformers' own kind says. Throws Error{kBadFile} for sizes that do
  // not fit each other, Error{kUnsupported} for another activation.
  static ResNetSizes of(const Config& backbone);
  // By the name of a timm model, "resnet50" say, whose widths are those of the weights. Throws
  // Error{kUnsupported} unless it is a plain ResNet.
  static ResNetSizes of_timm(const Config& config, std::string_view name, const Weights& weights);

  int64_t stages() const { return static_cast<int64_t>(widths.size()); }
  // Pixels from one cell of a stage's feature map to the next.
  int64_t stride(int64_t stage) const;
};

class ResNet {
 public:
  // The stages from 0 to `last`. Names are timm's if there is a "conv1.weight".
  ResNet(const LayerSource& source, const ResNetSizes& sizes, int64_t last);

  // What the stages give for [batch, channels, height, width], one after the other. Without
  // `keep_all` all but the last are let go on the way, and left empty.
  std::vector<ops::FeatureMap> operator()(const Pass& pass, const Value& pixels,
                                          bool keep_all) const;

 private:
  struct Block {
    std::vector<ops::Conv2d> convolutions;
    std::optional<ops::Conv2d> shortcut;
    ops::FeatureMap operator()(ops::FeatureMap x) const;
  };
  ops::FeatureMap run_stem(const ops::FeatureMap& pixels) const;

  ops::Conv2d stem_;
  std::vector<std::vector<Block>> stages_;
};

}  // namespace fovea
