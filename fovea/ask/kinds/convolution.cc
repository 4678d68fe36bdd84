// Nine heads that were built to be a 3 x 3 convolution of the picture, to compare with the kernels
// that a model learned.
#include <algorithm>

#include "fovea/ask/picture_results.h"
#include "fovea/base/error.h"
#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/vision/resize.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

constexpr int64_t kColors = 3;

// One pixel for each patch that the model sees: [channels, rows, cols], 0 to 1.
Tensor pixels_of_patches(const PictureSeen& seen, GridShape grid) {
  const Picture small = resize(seen_part(*seen.picture, seen.grid), {grid.cols, grid.rows},
                               ResizeFilter::kBilinear, ResizeRule::kPillow);
  Tensor pixels = Tensor::uninitialized({kColors, grid.rows, grid.cols});
  const auto values = pixels.mutable_values<float>();
  for (int64_t i = 0; i < grid.patches(); ++i) {
    for (int64_t c = 0; c < kColors; ++c) {
      values[static_cast<size_t>(c * grid.patches() + i)] =
          static_cast<float>(small.bytes[static_cast<size_t>(i * kColors + c)]) / 255;
    }
  }
  return pixels;
}

Answer answer_convolution(const Question& question, const FinishedRun& run) {
  const Axis& patches = picture_axis(run.run());
  const PictureAxis axis{.grid = {patches.grid_rows, patches.grid_cols}};
  const int64_t shorter = std::min(axis.grid.rows, axis.grid.cols);
  if (shorter < 3) {
    fail(ErrorKind::kInvalidArgument, Field{"size"},
         "a 3 x 3 convolution needs a grid of 3 x 3 patches but this one has {} x {}; give a "
         "larger one",
         axis.grid.rows, axis.grid.cols);
  }
  const Tensor pixels = pixels_of_patches(picture_seen(run), axis.grid);
  const auto record = std::make_shared<const AttentionRecord>(convolution_record(pixels, 3));
  const KernelOptions window{.radius = std::min<int64_t>(2, (shorter - 1) / 2)};
  std::vector<NamedKernel> kernels;
  for (int64_t head = 0; head < 9; ++head) {
    kernels.push_back(
        {fmt::format("head {}", head), offset_kernel(AttentionMap(record, head), axis, window)});
  }
  const double difference = convolution_difference(*record, pixels, edge_kernel(kColors));
  Json result = kernels_json(kernels);
  result.set("largest_difference", difference);
  result.set("sharpness", kHeadSharpness);
  return picture_answer(
      convolution_figure(run.run(), kernels, axis.grid, difference),
      Json::object({{"head", "all"}, {"direction", "row"}, {"method", "attention"}}),
      std::move(result), question, run);
}

}  // namespace

QuestionKind convolution_question() {
  return about_picture(
      {.name = "convolution",
       .summary = "nine heads built to be a 3 x 3 convolution, to compare with kernels",
       .fields = {},
       .answer = answer_convolution});
}

}  // namespace fovea
