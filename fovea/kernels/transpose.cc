#include "fovea/kernels/transpose.h"

#include <algorithm>

#include "fovea/kernels/parallel_rows.h"

namespace fovea {
namespace {

// 16 floats are one cache line, so a tile touches whole lines on both sides.
constexpr int64_t kTile = 16;

// A full tile has constant bounds, which the compiler turns into vector code.
void transpose_full_tile(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  for (int64_t c = 0; c < kTile; ++c) {
    for (int64_t r = 0; r < kTile; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

}  // namespace

void transpose_matrix(MatrixView<const float> from, MatrixView<float> to) {
  FOVEA_ASSERT(to.rows == from.cols && to.cols == from.rows);
  // A strip of tiles writes whole rows of `to`.
  parallel_rows((from.cols + kTile - 1) / kTile, kTile * from.rows,
                [&](int64_t begin, int64_t end) {
                  for (int64_t strip = begin; strip < end; ++strip) {
                    const int64_t c0 = strip * kTile;
                    const int64_t width = std::min(kTile, from.cols - c0);
                    for (int64_t r0 = 0; r0 < from.rows; r0 += kTile) {
                      const int64_t height = std::min(kTile, from.rows - r0);
                      const float* source = from.data + r0 * from.stride + c0;
                      float* target = to.data + c0 * to.stride + r0;
                      if (width == kTile && height == kTile) {
                        transpose_full_tile(source, from.stride, target, to.stride);
                        continue;
                      }
                      for (int64_t c = 0; c < width; ++c) {
                        for (int64_t r = 0; r < height; ++r) {
                          target[c * to.stride + r] = source[r * from.stride + c];
                        }
                      }
                    }
                  }
                });
}

}  // namespace fovea
