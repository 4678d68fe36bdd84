// For learners: nine heads that were built, not learned, and are a 3 x 3 convolution.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/cli/image/kernels.h"
#include "fovea/cli/image/parts.h"
#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/kernels/conv.h"
#include "fovea/render/picture_view.h"
#include "fovea/vision/resize.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

constexpr int64_t kChannels = 3;

// One pixel for each patch that the model sees: [channels, rows, cols], 0 to 1.
Tensor small_picture(const ImageRun& run, GridShape grid) {
  const Picture small = resize(seen_part(run.input.picture, run.input.grid), {grid.cols, grid.rows},
                               ResizeFilter::kBilinear, ResizeRule::kPillow);
  Tensor pixels = Tensor::uninitialized({kChannels, grid.rows, grid.cols});
  const auto values = pixels.mutable_values<float>();
  for (int64_t i = 0; i < grid.patches(); ++i) {
    for (int64_t c = 0; c < kChannels; ++c) {
      values[static_cast<size_t>(c * grid.patches() + i)] =
          static_cast<float>(small.bytes[static_cast<size_t>(i * kChannels + c)]) / 255;
    }
  }
  return pixels;
}

// Finds edges: each channel's eight neighbours taken from eight times itself, channels added.
Tensor edge_kernel() {
  std::vector<float> weights;
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int i = 0; i < 9; ++i) weights.push_back(i == 4 ? 8.0F : -1.0F);
  }
  return Tensor::from<float>({1, kChannels, 3, 3}, weights);
}

// Between the heads' mix and the convolution, without the border, where softmax cannot see zeros.
double largest_difference(const AttentionRecord& record, const Tensor& pixels, GridShape grid) {
  const Tensor kernel = edge_kernel();
  const Tensor attended = mix_heads(record, grid, kernel);
  const Tensor convolved = PackedConv(kernel, {}, {.padding = {1, 1}})
                               .apply(pixels.reshaped({1, kChannels, grid.rows, grid.cols}));
  double largest = 0;
  for (int64_t row = 1; row + 1 < grid.rows; ++row) {
    for (int64_t col = 1; col + 1 < grid.cols; ++col) {
      const auto at = static_cast<size_t>(row * grid.cols + col);
      largest = std::max(largest, std::abs(double{attended.values<float>()[at]} -
                                           double{convolved.values<float>()[at]}));
    }
  }
  return largest;
}

void check_convolution(const Args&) {}

Content make_convolution(const ImageRun& run) {
  const Axis& patches = picture_axis(run.result.run);
  const PictureAxis axis{.grid = {patches.grid_rows, patches.grid_cols}};
  const int64_t shorter = std::min(axis.grid.rows, axis.grid.cols);
  if (shorter < 3) {
    fail(ErrorKind::kInvalidArgument,
         "a 3 x 3 convolution needs a grid of 3 x 3 patches but this one has {} x {}; give a "
         "larger --size",
         axis.grid.rows, axis.grid.cols);
  }
  const Tensor pixels = small_picture(run, axis.grid);
  const auto record = std::make_shared<const AttentionRecord>(convolution_record(pixels, 3));
  const KernelOptions window{.radius = std::min<int64_t>(3, (shorter - 1) / 2)};
  std::vector<NamedKernel> kernels;
  for (int64_t head = 0; head < 9; ++head) {
    kernels.push_back(
        {fmt::format("head {}", head), offset_kernel(AttentionMap(record, head), axis, window)});
  }
  const double difference = largest_difference(*record, pixels, axis.grid);
  FigureText text{
      .title = "Nine heads that are a 3 × 3 convolution",
      .caption = fmt::format(
          "Built, not learned, after Cordonnier et al. 2020 · scores −{:g} |offset − Δ|², one Δ "
          "for "
          "each head · softmax weight, each row sums to 1.00, mean over {} pixels · with an edge "
          "filter as output weights their sum is that filter's convolution of this picture at {} × "
          "{} pixels: the largest difference inside of the border is {:.1e}",
          kHeadSharpness, kernels[0].kernel.queries, axis.grid.cols, axis.grid.rows, difference),
      .metadata = image_metadata(run)};
  text.metadata.set("sharpness", kHeadSharpness);
  return kernels_content(kernels, 3, std::move(text), {{"largest_difference", difference}});
}

}  // namespace

ImageView image_convolution_view() {
  return {.name = "convolution",
          .summary = "nine heads built to be a 3 x 3 convolution, to compare with kernels",
          .options = {},
          .check = check_convolution,
          .make = make_convolution};
}

}  // namespace fovea
