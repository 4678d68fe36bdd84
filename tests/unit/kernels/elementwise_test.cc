#include "fovea/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/compare.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::random_floats;

std::vector<int64_t> lengths() {
  std::vector<int64_t> result{100'003};  // more than one thread's share
  for (int64_t length = 0; length <= 70; ++length) result.push_back(length);
  return result;
}

TEST(Elementwise, SumsAndProductsAreExactlyTheFloatOnes) {
  for_each_simd_target([] {
    for (const int64_t length : lengths()) {
      const auto a = random_floats(length, 1), b = random_floats(length, 2);
      std::vector<float> sum(a.size()), product(a.size()), scaled(a.size());
      add_arrays(a, b, sum);
      multiply_arrays(a, b, product);
      scale_array(a, 0.3f, scaled);
      for (size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(sum[i], a[i] + b[i]);
        ASSERT_EQ(product[i], a[i] * b[i]);
        ASSERT_EQ(scaled[i], a[i] * 0.3f);
      }
    }
  });
}

TEST(Elementwise, OneVectorGoesToEveryRow) {
  for_each_simd_target([] {
    for (int64_t cols = 1; cols <= 40; ++cols) {
      const int64_t rows = 3, stride = cols + 2;
      const auto a = random_floats(rows * stride, 3), row = random_floats(cols, 4);
      std::vector<float> sum(a.size(), 9.0f), product(a.size(), 9.0f);
      add_to_rows({a.data(), rows, cols, stride}, row, {sum.data(), rows, cols, stride});
      multiply_rows({a.data(), rows, cols, stride}, row, {product.data(), rows, cols, stride});
      for (int64_t i = 0; i < rows * stride; ++i) {
        const auto at = static_cast<size_t>(i), col = static_cast<size_t>(i % stride);
        const bool inside = i % stride < cols;
        ASSERT_EQ(sum[at], inside ? a[at] + row[col] : 9.0f);
        ASSERT_EQ(product[at], inside ? a[at] * row[col] : 9.0f);
      }
    }
  });
}

TEST(Elementwise, SumsOverRowsAreRoundedOnce) {
  for (const int64_t cols : {1, 127, 128, 129, 300}) {
    const int64_t rows = 1001;
    const auto a = random_floats(rows * cols, 5), b = random_floats(rows * cols, 6);
    std::vector<double> sums(static_cast<size_t>(cols)), products(static_cast<size_t>(cols));
    for (size_t i = 0; i < a.size(); ++i) {
      sums[i % sums.size()] += double{a[i]};
      products[i % sums.size()] += double{a[i]} * double{b[i]};
    }
    std::vector<float> out(sums.size());
    sum_of_rows({a.data(), rows, cols}, out);
    EXPECT_TRUE(all_close(out, sums, 1e-12, 6e-8));  // half an ulp
    sum_of_row_products({a.data(), rows, cols}, {b.data(), rows, cols}, out);
    EXPECT_TRUE(all_close(out, products, 1e-12, 6e-8));
  }
}

}  // namespace
}  // namespace fovea
