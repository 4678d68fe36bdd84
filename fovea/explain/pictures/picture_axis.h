// The axis of a picture: special tokens first ([CLS], registers), then the patches of a grid row by
// row. Methods about pictures read patches only; specials are never reshaped into the grid.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "fovea/atlas/attention_map.h"
#include "fovea/capture/run.h"

namespace fovea {

struct GridShape {
  int64_t rows = 0;
  int64_t cols = 0;

  int64_t patches() const { return rows * cols; }
  int64_t row_of(int64_t patch) const { return patch / cols; }
  int64_t col_of(int64_t patch) const { return patch % cols; }

  bool operator==(const GridShape&) const = default;
};

struct PictureAxis {
  GridShape grid;
  int64_t specials = 0;  // positions before the first patch

  // Throws Error{kInvalidArgument} if the axis has no grid or fewer positions than patches.
  static PictureAxis of(const Axis& axis);

  int64_t positions() const { return specials + grid.patches(); }
  // The patches' part of a list of numbers over all positions. Throws Error{kInvalidArgument}
  // unless there is one number per position.
  std::span<const double> patches_of(std::span<const double> over_positions) const;
};

// Throws Error{kInvalidArgument} unless both sides of the attention run along `axis`.
void check_self_attention(const AttentionRecord& record, const PictureAxis& axis);

// Calls visit(patch, weights) for every patch in order. `weights`, f32 [patches], is what it gives
// to all patches. Computes a block of rows at a time, never the whole map.
void for_each_patch_row(const AttentionMap& map, const PictureAxis& axis,
                        const std::function<void(int64_t, std::span<const float>)>& visit);

}  // namespace fovea
