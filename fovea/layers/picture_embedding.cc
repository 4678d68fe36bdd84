#include "fovea/layers/picture_embedding.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/slice.h"

namespace fovea {
namespace {

constexpr int64_t kLargestPatch = 1024;
constexpr int64_t kLargestImage = 16384;
constexpr int64_t kMostChannels = 1024;
constexpr int64_t kMostRegisters = 4096;

// A number for both, or [height, width].
std::array<int64_t, 2> height_and_width(const Config& config, std::string_view key,
                                        int64_t largest) {
  const Json* member = config.json().find(key);
  std::array<int64_t, 2> sizes{};
  if (member != nullptr && member->is_array()) {
    const std::vector<int64_t> list = config.get_ints(key);
    if (list.size() != 2) {
      fail(ErrorKind::kBadFile, "{}: {} has {} entries; it must be a number or [height, width]",
           config.source(), key, list.size());
    }
    sizes = {list[0], list[1]};
  } else {
    sizes.fill(config.get_int(key));
  }
  for (const int64_t size : sizes) {
    if (size < 1 || size > largest) {
      fail(ErrorKind::kBadFile, "{}: {} is {} but must be from 1 to {}", config.source(), key, size,
           largest);
    }
  }
  return sizes;
}

ops::Linear load_projection(const LayerSource& source, const PatchSizes& sizes, int64_t width,
                            bool bias) {
  const Tensor weight = source.weights.tensor(
      "weight", {width, sizes.channels, sizes.patch_height, sizes.patch_width});
  return ops::Linear(weight.reshaped({width, sizes.patch_values()}),
                     bias ? source.weights.tensor("bias", {width}) : Tensor(), source.compute);
}

}  // namespace

PatchSizes PatchSizes::of(const Config& config) {
  const auto [patch_height, patch_width] = height_and_width(config, "patch_size", kLargestPatch);
  const auto [image_height, image_width] = height_and_width(config, "image_size", kLargestImage);
  PatchSizes sizes{.channels = config.get_size("num_channels", 3),
                   .patch_height = patch_height,
                   .patch_width = patch_width,
                   .image_height = image_height,
                   .image_width = image_width};
  if (sizes.channels > kMostChannels) {
    fail(ErrorKind::kBadFile, "{}: num_channels is {} but no model has more than {}",
         config.source(), sizes.channels, kMostChannels);
  }
  if (sizes.trained_patches() == 0) {
    fail(ErrorKind::kBadFile, "{}: image_size is {} x {} and patch_size {} x {}; no patch fits",
         config.source(), image_height, image_width, patch_height, patch_width);
  }
  return sizes;
}

Tensor PatchPositions::operator()(int64_t rows, int64_t cols) const {
  const int64_t trained_rows = sizes_.rows(sizes_.image_height);
  const int64_t trained_cols = sizes_.cols(sizes_.image_width);
  if (rows == trained_rows && cols == trained_cols) return table_;
  const int64_t width = table_.size(1);
  const Tensor grid = table_.reshaped({trained_rows, trained_cols, width});
  return resize_bicubic(grid, rows, cols, filter_).reshaped({rows * cols, width});
}

PictureEmbedding::PictureEmbedding(const LayerSource& projection, const PatchSizes& sizes,
                                   int64_t width, bool bias, Tensor front)
    : sizes_(sizes),
      projection_(load_projection(projection, sizes, width, bias)),
      front_(std::move(front)) {}

Value PictureEmbedding::operator()(const Value& pixels) const {
  Value positions;
  if (positions_) {
    positions = (*positions_)(sizes_.rows(pixels.shape()[1]), sizes_.cols(pixels.shape()[2]));
  }
  const Value patches = projection_(unfold_patches(pixels, sizes_), Activation::kNone, positions);
  return front_.empty() ? patches : ops::concat({Value(front_), patches}, 0);
}

Value unfold_patches(const Value& pixels, const PatchSizes& sizes) {
  const int64_t rows = sizes.rows(pixels.shape()[1]), cols = sizes.cols(pixels.shape()[2]);
  Value x = pixels;
  if (rows * sizes.patch_height != x.shape()[1]) {
    x = ops::slice(x, 1, 0, rows * sizes.patch_height);
  }
  if (cols * sizes.patch_width != x.shape()[2]) x = ops::slice(x, 2, 0, cols * sizes.patch_width);
  // [channels, rows, patch height, cols, patch width] -> [rows, cols, channels, height, width]
  x = ops::reshape(x, {sizes.channels, rows, sizes.patch_height, cols, sizes.patch_width});
  x = ops::transpose(x, 2, 3);
  x = ops::reshape(x, {sizes.channels, rows * cols, sizes.patch_height * sizes.patch_width});
  return ops::reshape(ops::transpose(x, 0, 1), {rows * cols, sizes.patch_values()});
}

PositionTable load_positions(const LayerSource& source, std::string_view name, const Shape& shape,
                             int64_t front) {
  const int64_t width = shape.back(), all = shape[shape.rank() - 2];
  const Value table = source.weights.tensor(name, shape, DType::kF32).reshaped({all, width});
  return {front == 0 ? Tensor() : ops::slice(table, 0, 0, front).tensor,
          ops::slice(table, 0, front, all).tensor};
}

Tensor load_front_tokens(const LayerSource& source, std::initializer_list<FrontTokens> tokens,
                         int64_t width) {
  std::vector<Value> parts;
  for (const auto& [name, count] : tokens) {
    if (count == 0) continue;
    parts.emplace_back(
        source.weights.tensor(name, {1, count, width}, DType::kF32).reshaped({count, width}));
  }
  return ops::concat(parts, 0).tensor;
}

std::vector<std::string> register_names(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 1; i <= count; ++i) names.push_back(fmt::format("[REG {}]", i));
  return names;
}

int64_t register_count(const Config& config, int64_t otherwise) {
  const int64_t count = config.get_int("num_register_tokens", otherwise);
  if (count < 0 || count > kMostRegisters) {
    fail(ErrorKind::kBadFile, "{}: num_register_tokens is {} but must be from 0 to {}",
         config.source(), count, kMostRegisters);
  }
  return count;
}

}  // namespace fovea
