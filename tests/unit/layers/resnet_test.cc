#include "fovea/layers/resnet.h"

#include <gtest/gtest.h>

#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;
using fovea::support::to_doubles;

// The weights of a timm ResNet of basic blocks, one in each of two stages of 4 and 6 channels.
std::vector<NamedTensor> timm_weights() {
  std::vector<NamedTensor> tensors;
  unsigned seed = 1;
  const auto add = [&](const std::string& conv, const std::string& norm, const Shape& shape) {
    tensors.push_back({conv + ".weight", random_tensor(shape, ++seed)});
    for (const char* part : {".weight", ".bias", ".running_mean"}) {
      tensors.push_back({norm + part, random_tensor({shape[0]}, ++seed)});
    }
    Tensor variance = random_tensor({shape[0]}, ++seed);
    for (float& value : variance.mutable_values<float>()) value = value * value + 0.3F;
    tensors.push_back({norm + ".running_var", variance});
  };
  add("conv1", "bn1", {4, 3, 7, 7});
  add("layer1.0.conv1", "layer1.0.bn1", {4, 4, 3, 3});
  add("layer1.0.conv2", "layer1.0.bn2", {4, 4, 3, 3});
  add("layer2.0.conv1", "layer2.0.bn1", {6, 4, 3, 3});
  add("layer2.0.conv2", "layer2.0.bn2", {6, 6, 3, 3});
  add("layer2.0.downsample.0", "layer2.0.downsample.1", {6, 4, 1, 1});
  return tensors;
}

ResNetSizes small_sizes() {
  return {.stem = 4, .widths = {4, 6}, .depths = {1, 1}, .bottleneck = false};
}

ResNet small_net(const ResNetSizes& sizes) {
  return {{Weights(std::make_shared<MemorySource>(timm_weights())), DType::kF32}, sizes, 1};
}

TEST(ResNet, EveryStageIsKeptOnRequestAndHalvesThePicture) {
  const ResNet net = small_net(small_sizes());
  const Value pixels(random_tensor({1, 3, 37, 50}, 90));
  const auto all = net({}, pixels, /*keep_all=*/true);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].shape(), Shape({1, 4, 10, 13}));
  EXPECT_EQ(all[1].shape(), Shape({1, 6, 5, 7}));
  const auto last = net({}, pixels, /*keep_all=*/false);
  EXPECT_TRUE(last[0].empty());
  EXPECT_TRUE(all_close(last[1].value().tensor, to_doubles(all[1].value().tensor), 0));
  EXPECT_EQ(small_sizes().stride(0), 4);
  EXPECT_EQ(small_sizes().stride(1), 8);
}

TEST(ResNet, AStageBeyondTheLargestStrideIsDilatedInstead) {
  ResNetSizes sizes = small_sizes();
  sizes.most_stride = 4;
  EXPECT_EQ(sizes.stride(1), 4);
  const auto maps = small_net(sizes)({}, Value(random_tensor({1, 3, 37, 50}, 90)), false);
  EXPECT_EQ(maps[1].shape(), Shape({1, 6, 10, 13}));
}

TEST(ResNet, GradientsOfPixelsAreThoseOfTheFastForm) {
  const ResNet net = small_net(small_sizes());
  const Tensor pixels = random_tensor({1, 3, 20, 17}, 91);
  Tape tape;
  const Value watched = tape.watch(pixels);
  const Value out = net({}, watched, false)[1].value();
  const Tensor plain = net({}, Value(pixels), false)[1].value().tensor;
  // Hundreds of products of numbers up to 30, summed in another order.
  EXPECT_TRUE(all_close(out.tensor, to_doubles(plain), 2e-3, 1e-5));
  const Tensor seed = random_tensor(out.shape(), 92);
  const Tensor gradient = tape.gradient(out, seed, {watched})[0];
  // The slope along one direction against the difference that the fast form gives.
  const Tensor direction = random_tensor(pixels.shape(), 93);
  const auto value_at = [&](float step) {
    Tensor moved = pixels.clone();
    for (size_t i = 0; i < moved.values<float>().size(); ++i) {
      moved.mutable_values<float>()[i] += step * direction.values<float>()[i];
    }
    const Tensor y = net({}, Value(moved), false)[1].value().tensor;
    double sum = 0;
    for (size_t i = 0; i < y.values<float>().size(); ++i) {
      sum += double{y.values<float>()[i]} * double{seed.values<float>()[i]};
    }
    return sum;
  };
  double slope = 0;
  for (size_t i = 0; i < gradient.values<float>().size(); ++i) {
    slope += double{gradient.values<float>()[i]} * double{direction.values<float>()[i]};
  }
  const double difference = (value_at(1e-3F) - value_at(-1e-3F)) / 2e-3;
  // ReLU bends within a step, and f32 leaves 4 digits of a difference.
  EXPECT_NEAR(slope, difference, 0.03 * std::max(1.0, std::abs(difference)));
}

Config backbone(std::string_view json) {
  return Config(Json::parse(std::string(json), "config.json"), "config.json");
}

TEST(ResNetSizes, AreThoseOfTheConfiguration) {
  const ResNetSizes sizes = ResNetSizes::of(backbone("{}"));
  EXPECT_EQ(sizes.widths, (std::vector<int64_t>{256, 512, 1024, 2048}));
  EXPECT_EQ(sizes.stride(3), 32);
  EXPECT_EQ(ResNetSizes::of(backbone(R"({"downsample_in_first_stage": true})")).stride(3), 64);
  for (const char* json : {R"({"depths": [1, 2]})", R"({"depths": [0, 1, 1, 1]})",
                           R"({"hidden_sizes": [2, 2, 2, 2]})", R"({"hidden_sizes": []})"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "stages", [&] { ResNetSizes::of(backbone(json)); }))
        << json;
  }
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "gelu",
                         [&] { ResNetSizes::of(backbone(R"({"hidden_act": "gelu"})")); }));
}

TEST(ResNetSizes, OfTimmNeedAPlainResNet) {
  const Weights weights(std::make_shared<MemorySource>(timm_weights()));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "resnet50d",
                         [&] { ResNetSizes::of_timm(backbone("{}"), "resnet50d", weights); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "layer3.0.conv2.weight is missing",
                         [&] { ResNetSizes::of_timm(backbone("{}"), "resnet18", weights); }));
}

}  // namespace
}  // namespace fovea
