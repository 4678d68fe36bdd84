#include "fovea/kernels/fixed_conv.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fovea/kernels/parallel_rows.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr int64_t kGroup = 16;  // channels that lie together

// oneDNN's layout in which the f32 convolutions before and after are fastest: [batch][channels /
// 16][height][width][16], channels filled up with zeros.
onednn::Desc grouped_image(const Shape& shape) {
  return {onednn::Dims(shape.sizes()), onednn::kF32, onednn::Tag::nChw16c};
}

int64_t groups_of(int64_t channels) {
  return (channels + kGroup - 1) / kGroup;
}

// The pixels of one image within a frame of zeros, channels as integers.
FixedRows framed_pixels(const float* image, const Shape& shape,
                        const std::array<int64_t, 2>& frame) {
  const int64_t channels = shape[1], height = shape[2], width = shape[3];
  const int64_t lines = height + 2 * frame[0], line = width + 2 * frame[1];
  FixedRows pixels(lines * line, channels);
  parallel_rows(lines, line * channels, [&](int64_t begin, int64_t end) {
    for (int64_t y = begin; y < end; ++y) {
      const int64_t row = y - frame[0], first = y * line;
      const bool inside = row >= 0 && row < height;
      for (int64_t x = 0; x < line; ++x) {
        if (!inside || x < frame[1] || x >= frame[1] + width) pixels.set_zero(first + x);
      }
      if (!inside) continue;
      pixels.set_grouped(first + frame[1], width, image + row * width * kGroup,
                         height * width * kGroup);
    }
  });
  return pixels;
}

FixedRuns runs_of(const Shape& input, const Shape& weight, const ConvGeometry& geometry,
                  const Shape& output) {
  const int64_t line = input[3] + 2 * geometry.padding[1];
  FixedRuns runs{.runs = output[2],
                 .length = output[3],
                 .run_step = geometry.stride[0] * line,
                 .row_step = geometry.stride[1],
                 .taps = {}};
  for (int64_t y = 0; y < weight[2]; ++y) {
    for (int64_t x = 0; x < weight[3]; ++x) {
      runs.taps.push_back(y * geometry.dilation[0] * line + x * geometry.dilation[1]);
    }
  }
  return runs;
}

}  // namespace

bool can_fix_conv(const Shape& weight, const ConvGeometry& geometry) {
  return geometry.groups == 1 && weight[1] >= kGroup;
}

FixedWeights fix_conv_weights(const Tensor& weight) {
  const Tensor values = convert(weight, DType::kF32);
  const int64_t channels = weight.size(1), taps = weight.size(2) * weight.size(3);
  const float* const from = values.values<float>().data();
  return FixedWeights(weight.size(0), taps, channels, [=](int64_t column, float* to) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t c = 0; c < channels; ++c) {
        to[tap * channels + c] = from[(column * channels + c) * taps + tap];
      }
    }
  });
}

Tensor conv_weights_of(const FixedWeights& weights, const Shape& shape) {
  Tensor result = Tensor::uninitialized(shape);
  float* const to = result.mutable_values<float>().data();
  const int64_t channels = shape[1], taps = shape[2] * shape[3];
  std::vector<float> column(static_cast<size_t>(channels * taps));
  for (int64_t out = 0; out < shape[0]; ++out) {
    weights.read(out, column.data());
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t c = 0; c < channels; ++c) {
        to[(out * channels + c) * taps + tap] = column[static_cast<size_t>(tap * channels + c)];
      }
    }
  }
  return result;
}

BlockedImage fixed_conv(const BlockedImage& input, const FixedWeights& weights, const Shape& shape,
                        const ConvGeometry& geometry, std::span<const float> bias, bool relu,
                        BlockedImage residual, const Shape& output) {
  const Shape& seen = input.shape();
  const onednn::Desc from = grouped_image(seen), wanted = grouped_image(output);
  const Tensor source = onednn::elements_as(input.memory(), from);
  const bool adds = !residual.empty();
  Tensor result = adds ? onednn::writable_as(std::move(residual), wanted)
                       : onednn::layout_memory(output, onednn::plain_image(output), wanted);
  const FixedRuns runs = runs_of(seen, shape, geometry, output);
  const int64_t pixels = output[2] * output[3];
  for (int64_t image = 0; image < seen[0]; ++image) {
    const int64_t size = groups_of(seen[1]) * kGroup * seen[2] * seen[3];
    const float* const data = reinterpret_cast<const float*>(source.raw()) + image * size;
    float* const target = reinterpret_cast<float*>(result.mutable_raw()) +
                          image * groups_of(output[1]) * kGroup * pixels;
    const FixedOutput out{.bias = bias,
                          .residual = adds ? target : nullptr,
                          .residual_row_step = kGroup,
                          .relu = relu,
                          .data = target,
                          .row_step = kGroup,
                          .group_step = pixels * kGroup,
                          .whole_groups = true};
    if (is_pointwise(shape, geometry)) {
      fixed_products(pixels, weights, out, [&](FixedRows& to, int64_t first, int64_t count) {
        to.set_grouped(0, count, data + first * kGroup, pixels * kGroup);
      });
    } else {
      fixed_products(framed_pixels(data, seen, geometry.padding), runs, weights, out);
    }
  }
  return BlockedImage(BlockedImage::Memory{output, wanted, std::move(result)});
}

}  // namespace fovea
