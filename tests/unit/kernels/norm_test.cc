#include "fovea/kernels/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/compare.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::random_floats;

// One row; an empty weight or bias is left out.
std::vector<double> reference_norm(const std::vector<float>& x, const std::vector<float>& weight,
                                   const std::vector<float>& bias, bool centred, double epsilon) {
  const auto count = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  if (centred) {
    for (const float value : x) mean += value / count;
  }
  for (const float value : x) squares += (value - mean) * (value - mean) / count;
  std::vector<double> result;
  for (size_t i = 0; i < x.size(); ++i) {
    double value = (x[i] - mean) / std::sqrt(squares + epsilon);
    if (!weight.empty()) value *= weight[i];
    if (!bias.empty()) value += bias[i];
    result.push_back(value);
  }
  return result;
}

void check_layer_norm(const std::vector<float>& x, double absolute) {
  const auto cols = static_cast<int64_t>(x.size());
  const auto seed = static_cast<uint64_t>(cols);
  for (const bool has_weight : {false, true}) {
    for (const bool has_bias : {false, true}) {
      const auto weight = random_floats(has_weight ? cols : 0, seed + 1);
      const auto bias = random_floats(has_bias ? cols : 0, seed + 2);
      std::vector<float> out(x.size());
      layer_norm_rows({x.data(), 1, cols}, weight, bias, 1e-5f, {out.data(), 1, cols});
      EXPECT_TRUE(
          all_close(out, reference_norm(x, weight, bias, true, double{1e-5f}), absolute, 1e-6));
    }
  }
}

TEST(LayerNorm, MatchesDoubleForLengthsAroundTheVectorWidth) {
  for_each_simd_target([] {
    // About ten roundings of numbers up to 4 times weights up to 4.
    for (int64_t length = 1; length <= 70; ++length) {
      SCOPED_TRACE(length);
      check_layer_norm(random_floats(length, static_cast<uint64_t>(length)), 2e-6);
    }
    for (const int64_t length : {768, 1023, 1025, 5000}) {
      SCOPED_TRACE(length);
      check_layer_norm(random_floats(length, static_cast<uint64_t>(length)), 2e-6);
    }
  });
}

TEST(LayerNorm, LargeCommonOffsetCostsNoDigits) {
  for_each_simd_target([] {
    for (const int64_t length : {3, 64, 777, 4096}) {
      SCOPED_TRACE(length);
      std::vector<float> x = random_floats(length, 5);
      for (float& value : x) value += 3000.0f;  // the sum of squares alone would lose 7 digits
      check_layer_norm(x, 2e-6);
    }
  });
}

TEST(LayerNorm, ConstantRowBecomesTheBias) {
  for_each_simd_target([] {
    for (const float value : {0.0f, 1.1f, -12345.678f}) {
      const std::vector<float> x(37, value);
      const std::vector<float> bias = random_floats(37, 3);
      std::vector<float> out(37);
      layer_norm_rows({x.data(), 1, 37}, {}, bias, 1e-12f, {out.data(), 1, 37});
      // The mean of equal floats is exact in double up to 1e-16, times 1 / sqrt(1e-12).
      EXPECT_TRUE(all_close(out, support::to_doubles(bias), 1e-5));
    }
  });
}

TEST(RmsNorm, MatchesDoubleForLengthsAroundTheVectorWidth) {
  for_each_simd_target([] {
    std::vector<int64_t> lengths{768, 1023, 1025, 5000};
    for (int64_t length = 1; length <= 70; ++length) lengths.push_back(length);
    for (const int64_t length : lengths) {
      SCOPED_TRACE(length);
      const auto x = random_floats(length, static_cast<uint64_t>(length), /*deviation=*/3);
      for (const bool has_weight : {false, true}) {
        const auto weight = random_floats(has_weight ? length : 0, 9);
        std::vector<float> out(x.size());
        rms_norm_rows({x.data(), 1, length}, weight, 1e-6f, {out.data(), 1, length});
        EXPECT_TRUE(
            all_close(out, reference_norm(x, weight, {}, false, double{1e-6f}), 1e-7, 1e-6));
      }
    }
  });
}

TEST(Norms, ManyRowsInPlaceEqualSingleRows) {
  const int64_t rows = 200, cols = 300;
  const std::vector<float> x = random_floats(rows * cols, 11);
  const std::vector<float> weight = random_floats(cols, 12);
  std::vector<float> layer = x, rms = x;
  layer_norm_rows({layer.data(), rows, cols}, weight, {}, 1e-5f, {layer.data(), rows, cols});
  rms_norm_rows({rms.data(), rows, cols}, weight, 1e-5f, {rms.data(), rows, cols});
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<float> row(x.begin() + r * cols, x.begin() + (r + 1) * cols);
    std::vector<float> out(row.size());
    layer_norm_rows({row.data(), 1, cols}, weight, {}, 1e-5f, {out.data(), 1, cols});
    EXPECT_TRUE(std::equal(out.begin(), out.end(), layer.begin() + r * cols));
    rms_norm_rows({row.data(), 1, cols}, weight, 1e-5f, {out.data(), 1, cols});
    EXPECT_TRUE(std::equal(out.begin(), out.end(), rms.begin() + r * cols));
  }
}

}  // namespace
}  // namespace fovea
