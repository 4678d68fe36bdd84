#include "fovea/kernels/transpose.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/random.h"

namespace fovea {
namespace {

TEST(Transpose, SwapsRowsAndColumnsForSizesAroundTheTile) {
  for (const int64_t rows : {1, 2, 15, 16, 17, 33, 500}) {
    for (const int64_t cols : {1, 3, 15, 16, 17, 47, 301}) {
      const int64_t from_stride = cols + 3, to_stride = rows + 2;
      const auto from = support::random_floats(rows * from_stride, 1);
      std::vector<float> to(static_cast<size_t>(cols * to_stride), 7.0f);
      transpose_matrix({from.data(), rows, cols, from_stride}, {to.data(), cols, rows, to_stride});
      for (int64_t c = 0; c < cols; ++c) {
        for (int64_t r = 0; r < to_stride; ++r) {
          const float expected = r < rows ? from[static_cast<size_t>(r * from_stride + c)] : 7.0f;
          ASSERT_EQ(to[static_cast<size_t>(c * to_stride + r)], expected) << rows << " x " << cols;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea
