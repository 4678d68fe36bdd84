#include "fovea/layers/resnet.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/layers/run_block.h"

namespace fovea {
namespace {

constexpr double kBatchNormEpsilon = 1e-5;  // of PyTorch, and of DETR's frozen form
constexpr int64_t kReduction = 4;           // of a bottleneck's inner width
constexpr int64_t kStemStride = 4;          // a convolution of stride 2, a pooling of stride 2
constexpr int64_t kMostStages = 8;
constexpr int64_t kMostBlocks = 512;
constexpr int64_t kWidest = 65536;

struct ConvParts {
  LayerSource convolution, norm;
};

// Where the convolutions lie in a file, and the norm after each.
class Names {
 public:
  explicit Names(LayerSource source)
      : source_(std::move(source)), timm_(source_.weights.has("conv1.weight")) {}

  ConvParts stem() const {
    if (timm_) return {source_["conv1"], source_["bn1"]};
    return below(source_["embedder.embedder"]);
  }
  ConvParts convolution(int64_t stage, int64_t block, int64_t index) const {
    const LayerSource own = this->block(stage, block);
    if (!timm_) return below(own["layer"][index]);
    return {own[fmt::format("conv{}", index + 1)], own[fmt::format("bn{}", index + 1)]};
  }
  ConvParts shortcut(int64_t stage, int64_t block) const {
    const LayerSource own = this->block(stage, block);
    if (!timm_) return below(own["shortcut"]);
    return {own["downsample"][0], own["downsample"][1]};
  }

 private:
  static ConvParts below(const LayerSource& source) {
    return {source["convolution"], source["normalization"]};
  }
  LayerSource block(int64_t stage, int64_t block) const {
    if (timm_) return source_[fmt::format("layer{}", stage + 1)][block];
    return source_["encoder.stages"][stage]["layers"][block];
  }
  LayerSource source_;
  bool timm_;
};

// The convolution and the norm after it, weight * (x - mean) / sqrt(variance + epsilon) + bias, as
// one convolution.
ops::Conv2d load_folded_convolution(const ConvParts& parts, const Shape& shape,
                                    const ConvGeometry& geometry) {
  const int64_t out = shape[0], each = shape.elements() / out;
  Tensor weight = parts.convolution.weights.tensor("weight", shape, DType::kF32).clone();
  const Tensor factors = load_vector(parts.norm, "weight", out);
  Tensor bias = load_vector(parts.norm, "bias", out).clone();
  const Tensor means = load_vector(parts.norm, "running_mean", out);
  const Tensor variances = load_vector(parts.norm, "running_var", out);
  for (int64_t channel = 0; channel < out; ++channel) {
    const auto c = static_cast<size_t>(channel);
    const double factor = double{factors.values<float>()[c]} /
                          std::sqrt(double{variances.values<float>()[c]} + kBatchNormEpsilon);
    float* values = weight.mutable_values<float>().data() + channel * each;
    for (int64_t i = 0; i < each; ++i) values[i] = static_cast<float>(double{values[i]} * factor);
    float& shift = bias.mutable_values<float>()[c];
    shift = static_cast<float>(double{shift} - double{means.values<float>()[c]} * factor);
  }
  return ops::Conv2d(weight, bias, geometry, parts.convolution.compute);
}

ConvGeometry square(int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t padding = kernel / 2 * dilation;
  return {
      .stride = {stride, stride}, .padding = {padding, padding}, .dilation = {dilation, dilation}};
}

struct PlainResNet {
  std::string_view name;
  std::array<int64_t, 4> depths;
  bool bottleneck;
};
constexpr std::array<PlainResNet, 6> kPlainResNets{{{"resnet18", {2, 2, 2, 2}, false},
                                                    {"resnet34", {3, 4, 6, 3}, false},
                                                    {"resnet26", {2, 2, 2, 2}, true},
                                                    {"resnet50", {3, 4, 6, 3}, true},
                                                    {"resnet101", {3, 4, 23, 3}, true},
                                                    {"resnet152", {3, 8, 36, 3}, true}}};

// The sizes of a convolution's weights.
Shape shape_of(const Weights& weights, const std::string& name) {
  const TensorInfo* found = weights.find(name);
  if (found == nullptr || found->shape.rank() != 4) {
    fail(ErrorKind::kBadFile, "{}: {}{} is {}; the backbone needs it as a convolution",
         weights.source(), weights.prefix(), name,
         found == nullptr ? "missing" : to_string(found->shape));
  }
  return found->shape;
}

void check_sizes(const Config& config, const ResNetSizes& sizes) {
  const auto within = [](int64_t number, int64_t most) { return number >= 1 && number <= most; };
  bool good = within(sizes.channels, 1024) && within(sizes.stem, kWidest) &&
              within(sizes.stages(), kMostStages) && sizes.depths.size() == sizes.widths.size();
  for (const int64_t width : sizes.widths) {
    good = good && within(width, kWidest) && (!sizes.bottleneck || width >= kReduction);
  }
  for (const int64_t depth : sizes.depths) good = good && within(depth, kMostBlocks);
  if (!good) {
    fail(ErrorKind::kBadFile,
         "{}: the backbone has {} depths and {} hidden_sizes; wanted are 1 to {} stages, each with "
         "1 to {} blocks and a width of at most {}",
         config.source(), sizes.depths.size(), sizes.widths.size(), kMostStages, kMostBlocks,
         kWidest);
  }
}

}  // namespace

ResNetSizes ResNetSizes::of(const Config& backbone) {
  const Config config =
      backbone.with_defaults({{"hidden_sizes", Json(Json::Array{256, 512, 1024, 2048})},
                              {"depths", Json(Json::Array{3, 4, 6, 3})}});
  ResNetSizes sizes{.channels = config.get_size("num_channels", 3),
                    .stem = config.get_size("embedding_size", 64),
                    .widths = config.get_ints("hidden_sizes"),
                    .depths = config.get_ints("depths"),
                    .bottleneck = config.get_string("layer_type", "bottleneck") == "bottleneck",
                    .stride_in_first_stage = config.get_bool("downsample_in_first_stage", false),
                    .stride_in_first_conv = config.get_bool("downsample_in_bottleneck", false)};
  sizes.most_stride = int64_t{1} << 30;
  check_sizes(config, sizes);
  if (config.get_string("hidden_act", "relu") != "relu") {
    fail(ErrorKind::kUnsupported,
         "{}: hidden_act of the backbone is '{}'; fovea has ResNets with 'relu' only",
         config.source(), config.get_string("hidden_act"));
  }
  return sizes;
}

ResNetSizes ResNetSizes::of_timm(const Config& config, std::string_view name,
                                 const Weights& weights) {
  const std::string_view plain = name.substr(0, name.find('.'));  // "resnet50.a1_in1k"
  for (const PlainResNet& known : kPlainResNets) {
    if (known.name != plain) continue;
    const Shape stem = shape_of(weights, "conv1.weight");
    ResNetSizes sizes{.channels = stem[1],
                      .stem = stem[0],
                      .depths = {known.depths.begin(), known.depths.end()},
                      .bottleneck = known.bottleneck};
    for (size_t stage = 1; stage <= known.depths.size(); ++stage) {
      const int last = known.bottleneck ? 3 : 2;
      sizes.widths.push_back(
          shape_of(weights, fmt::format("layer{}.0.conv{}.weight", stage, last))[0]);
    }
    check_sizes(config, sizes);
    return sizes;
  }
  fail(ErrorKind::kUnsupported,
       "{}: the backbone is timm's '{}'; fovea has resnet18, 26, 34, 50, 101 and 152",
       config.source(), name);
}

int64_t ResNetSizes::stride(int64_t stage) const {
  int64_t stride = kStemStride;
  for (int64_t i = 0; i <= stage; ++i) {
    if ((i > 0 || stride_in_first_stage) && stride < most_stride) stride *= 2;
  }
  return stride;
}

ResNet::ResNet(const LayerSource& source, const ResNetSizes& sizes, int64_t last)
    : stem_(load_folded_convolution(Names(source).stem(), {sizes.stem, sizes.channels, 7, 7},
                                    square(7, 2, 1))) {
  const Names names(source);
  int64_t width = sizes.stem, dilation = 1;
  for (int64_t stage = 0; stage <= last; ++stage) {
    const auto s = static_cast<size_t>(stage);
    const int64_t out = sizes.widths[s];
    const int64_t inner = sizes.bottleneck ? out / kReduction : out;
    int64_t stride = stage == 0 && !sizes.stride_in_first_stage ? 1 : 2;
    // If a step becomes a dilation, the first 3 x 3 convolution still has the previous dilation.
    int64_t first_dilation = dilation;
    if (stride == 2 &&
        sizes.stride(stage) == (stage == 0 ? kStemStride : sizes.stride(stage - 1))) {
      dilation *= 2;
      stride = 1;
    }
    std::vector<Block>& blocks = stages_.emplace_back();
    for (int64_t b = 0; b < sizes.depths[s]; ++b) {
      Block& block = blocks.emplace_back();
      const auto add = [&](const Shape& shape, const ConvGeometry& geometry) {
        const auto index = static_cast<int64_t>(block.convolutions.size());
        block.convolutions.push_back(
            load_folded_convolution(names.convolution(stage, b, index), shape, geometry));
      };
      if (sizes.bottleneck) {
        const int64_t early = sizes.stride_in_first_conv ? stride : 1;
        add({inner, width, 1, 1}, square(1, early, 1));
        add({inner, inner, 3, 3}, square(3, stride / early, first_dilation));
        add({out, inner, 1, 1}, square(1, 1, 1));
      } else {
        add({out, width, 3, 3}, square(3, stride, first_dilation));
        add({out, out, 3, 3}, square(3, 1, dilation));
      }
      if (width != out || stride != 1) {
        block.shortcut = load_folded_convolution(names.shortcut(stage, b), {out, width, 1, 1},
                                                 square(1, stride, 1));
      }
      width = out;
      stride = 1;
      first_dilation = dilation;
    }
  }
}

ops::FeatureMap ResNet::Block::operator()(ops::FeatureMap x) const {
  ops::FeatureMap residual = shortcut ? (*shortcut)(x, /*relu=*/false) : x;
  for (size_t i = 0; i + 1 < convolutions.size(); ++i) x = convolutions[i](x, /*relu=*/true);
  return convolutions.back()(x, /*relu=*/true, std::move(residual));
}

ops::FeatureMap ResNet::run_stem(const ops::FeatureMap& pixels) const {
  return ops::max_pool2d(stem_(pixels, /*relu=*/true),
                         {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
}

std::vector<ops::FeatureMap> ResNet::operator()(const Pass& pass, const Value& pixels,
                                                bool keep_all) const {
  Pass attends_nowhere = pass;
  attends_nowhere.recorder = nullptr;
  // In a gradient run a part goes from value to value; otherwise it keeps the fastest layout.
  const auto step = [&](ops::FeatureMap x, const auto& part) {
    check_cancelled();
    if (pass.tape == nullptr) return part(std::move(x));
    return ops::FeatureMap(run_block(
        attends_nowhere, x.value(),
        [part](const Pass&, const Value& in) { return part(ops::FeatureMap(in)).value(); }));
  };
  ops::FeatureMap x =
      step(ops::FeatureMap(pixels), [this](const ops::FeatureMap& in) { return run_stem(in); });
  std::vector<ops::FeatureMap> maps(stages_.size());
  for (size_t stage = 0; stage < stages_.size(); ++stage) {
    for (const Block& block : stages_[stage]) {
      x = step(std::move(x), [&block](ops::FeatureMap in) { return block(std::move(in)); });
    }
    if (keep_all || stage + 1 == stages_.size()) maps[stage] = x;
  }
  return maps;
}

}  // namespace fovea
