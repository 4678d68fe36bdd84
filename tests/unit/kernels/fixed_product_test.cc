#include "fovea/kernels/fixed_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/fixed_rows.h"
#include "support/products.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::fixed_rows;
using support::for_each_simd_target;
using support::product_of;
using support::product_tolerance;
using support::random_tensor;
using support::reference_linear;
using support::to_doubles;

// As products see them.
Tensor seen_rows(const PackedMatrix& packed, const Tensor& x) {
  return packed.compute_dtype() == DType::kI16 ? fixed_rows(x) : x;
}
Tensor seen_weight(const PackedMatrix& packed, const Tensor& weight) {
  return seen_rows(packed, weight);
}

// Sums of integers are exact: what is left is one rounding of each sum, and the activation's.
double fixed_tolerance(const PackedMatrix& packed) {
  return packed.compute_dtype() == DType::kI16 ? 4e-6 : product_tolerance(packed.in());
}

TEST(FixedMatrix, MatchesDoubleForOddShapes) {
  uint64_t seed = 100;
  for (const int64_t in : {1, 3, 17, 64, 129, 513}) {
    for (const int64_t out : {1, 5, 16, 31, 67, 130}) {
      const Tensor weight = random_tensor({out, in}, ++seed);
      const PackedMatrix packed(weight, DType::kI16);
      const Tensor seen = seen_weight(packed, weight);
      EXPECT_TRUE(all_close(packed.unpack(), to_doubles(seen), 0));
      for (const int64_t rows : {1, 2, 11, 12, 13, 33, 200}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
        const Tensor x = random_tensor({rows, in}, ++seed);
        const auto expected = reference_linear(seen_rows(packed, x), seen, {});
        EXPECT_TRUE(all_close(product_of(packed, x), expected, fixed_tolerance(packed), 1e-6));
      }
    }
  }
}

TEST(FixedMatrix, FusesBiasActivationAndResidualInThatOrder) {
  const int64_t rows = 30, in = 48, out = 37;
  const Tensor weight = random_tensor({out, in}, 1, 0.3f), x = random_tensor({rows, in}, 2);
  const Tensor bias = random_tensor({out}, 3), residual = random_tensor({rows, out}, 4);
  const PackedMatrix packed(weight, DType::kI16);
  for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kGelu,
                                      Activation::kQuickGelu, Activation::kTanh}) {
    Epilogue epilogue{.bias = bias.values<float>(),
                      .activation = activation,
                      .residual = residual.matrix<float>()};
    const auto expected =
        reference_linear(seen_rows(packed, x), seen_weight(packed, weight), epilogue);
    EXPECT_TRUE(
        all_close(product_of(packed, x, epilogue), expected, fixed_tolerance(packed), 1e-6));
    Tensor in_place = residual.clone();
    const MatrixView<float> view = in_place.mutable_matrix<float>();
    epilogue.residual = view;
    packed.apply(x.matrix<float>(), epilogue, view);
    EXPECT_TRUE(all_close(in_place, expected, fixed_tolerance(packed), 1e-6));
  }
}

TEST(FixedMatrix, ReadsAndWritesStridedRowsOnly) {
  const int64_t rows = 25, in = 20, out = 45;
  const Tensor weight = random_tensor({out, in}, 5), x = random_tensor({rows, in}, 6);
  const Tensor residual = random_tensor({rows, out + 3}, 7);
  Tensor wide = random_tensor({rows, in + 7}, 8);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(x.matrix<float>().row(r), in, wide.mutable_matrix<float>().row(r) + 4);
  }
  Tensor result = Tensor::uninitialized({rows, out + 5});
  std::ranges::fill(result.mutable_values<float>(), 42.0f);
  const PackedMatrix packed(weight, DType::kI16);
  const Epilogue epilogue{.residual = residual.matrix<float>().block(0, 1, rows, out)};
  packed.apply(wide.matrix<float>().block(0, 4, rows, in), epilogue,
               result.mutable_matrix<float>().block(0, 2, rows, out));
  const auto expected =
      reference_linear(seen_rows(packed, x), seen_weight(packed, weight), epilogue);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < out + 5; ++c) {
      const float value = result.matrix<float>()(r, c);
      if (c < 2 || c >= out + 2) {
        EXPECT_EQ(value, 42.0f);
      } else {
        EXPECT_NEAR(value, expected[static_cast<size_t>(r * out + c - 2)], 2e-5);
      }
    }
  }
}

TEST(FixedMatrix, TakesHalfPrecisionAndTransposedWeights) {
  const Tensor weight = random_tensor({40, 31}, 8);
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const Tensor half = convert(weight, type);
    const PackedMatrix packed(half, DType::kI16);
    EXPECT_TRUE(
        all_close(packed.unpack(), to_doubles(seen_weight(packed, convert(half, DType::kF32))), 0));
  }
  Tensor transposed = Tensor::uninitialized({31, 40});
  for (int64_t o = 0; o < 40; ++o) {
    for (int64_t i = 0; i < 31; ++i) {
      transposed.mutable_matrix<float>()(i, o) = weight.matrix<float>()(o, i);
    }
  }
  const PackedMatrix packed(transposed, DType::kI16, WeightLayout::kInOut);
  EXPECT_TRUE(all_close(packed.unpack(), to_doubles(seen_weight(packed, weight)), 0));
}

TEST(FixedMatrix, IsWithin1e3OfF32WhereRowsHaveOutliers) {
  const int64_t rows = 20, in = 768, out = 64;
  const Tensor weight = random_tensor({out, in}, 31);
  Tensor x = random_tensor({rows, in}, 32);
  for (int64_t r = 0; r < rows; ++r) x.mutable_matrix<float>()(r, r) = 50;
  const Tensor y = product_of(PackedMatrix(weight, DType::kI16), x);
  const auto expected = reference_linear(x, weight, {});
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  EXPECT_TRUE(all_close(y, expected, 1e-3 * largest));
}

TEST(FixedMatrix, WhatIsNotANumberStaysInItsRow) {
  const Tensor weight = random_tensor({40, 20}, 33);
  Tensor x = random_tensor({15, 20}, 34);
  x.mutable_matrix<float>()(7, 3) = std::numeric_limits<float>::infinity();
  x.mutable_matrix<float>()(9, 0) = std::numeric_limits<float>::quiet_NaN();
  const Tensor y = product_of(PackedMatrix(weight, DType::kI16), x);
  for (int64_t r = 0; r < 15; ++r) {
    for (int64_t c = 0; c < 40; ++c) {
      EXPECT_EQ(std::isfinite(y.matrix<float>()(r, c)), r != 7 && r != 9) << r << " " << c;
    }
  }
}

TEST(FixedMatrix, TakesHalfTheMemory) {
  const Tensor weight = random_tensor({768, 512}, 35);
  const PackedMatrix packed(weight, DType::kI16);
  if (packed.compute_dtype() == DType::kI16) {
    EXPECT_LE(packed.bytes(), weight.bytes() / 2 + 768 * sizeof(float));
  }
}

TEST(FixedMatrix, IsF32WithoutTheInstruction) {
  const Tensor weight = random_tensor({33, 21}, 14), x = random_tensor({5, 21}, 15);
  for_each_simd_target([&] {
    const PackedMatrix packed(weight, DType::kI16);
    EXPECT_EQ(packed.compute_dtype(), has_i16_dot() ? DType::kI16 : DType::kF32);
    if (has_i16_dot()) return;
    EXPECT_TRUE(
        all_close(product_of(packed, x), reference_linear(x, weight, {}), product_tolerance(21)));
  });
}

}  // namespace
}  // namespace fovea
