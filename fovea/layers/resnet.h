// The residual convolutional network below a detector (He et al. 2016, arXiv:1512.03385), under
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
  int64_t stem = 64;            // channels after the first convolution
  std::vector<int64_t> widths;  // channels after each stage
  std::vector<int64_t> depths;  // blocks of each stage
  bool bottleneck = true;  // blocks of 1 x 1, 3 x 3, 1 x 1 convolutions; otherwise two of 3 x 3
  bool stride_in_first_stage = false;
  bool stride_in_first_conv = false;  // in a bottleneck; else its 3 x 3 has the stride
  // Beyond this stride, stages dilate their convolutions instead of taking larger steps. 16 is
  // DETR's "DC5".
  int64_t most_stride = 32;

  // The sizes in a "backbone_config" of transformers' own kind. Throws Error{kBadFile} for sizes
  // that do not fit each other, and Error{kUnsupported} for another activation.
  static ResNetSizes of(const Config& backbone);
  // The sizes of a timm model such as "resnet50"; its widths come from the weights. Throws
  // Error{kUnsupported} unless it is a plain ResNet.
  static ResNetSizes of_timm(const Config& config, std::string_view name, const Weights& weights);

  int64_t stages() const { return static_cast<int64_t>(widths.size()); }
  // How many pixels lie between neighbouring cells of a stage's feature map.
  int64_t stride(int64_t stage) const;
};

class ResNet {
 public:
  // Loads the stages from 0 to `last`. Names are timm's if there is a "conv1.weight".
  ResNet(const LayerSource& source, const ResNetSizes& sizes, int64_t last);

  // The feature maps of the stages for [batch, channels, height, width], one after the other.
  // Without `keep_all`, all but the last are freed on the way and left empty.
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
