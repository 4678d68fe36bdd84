#include "fovea/kernels/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/products.h"
#include "support/random.h"

namespace fovea {
namespace {

using support::all_close;
using support::product_of;
using support::product_tolerance;
using support::random_floats;
using support::random_tensor;
using support::reference_linear;
using support::to_doubles;

TEST(PackedMatrix, MatchesDoubleForOddShapes) {
  uint64_t seed = 1;
  for (const int64_t in : {1, 3, 17, 64, 129}) {
    for (const int64_t out : {1, 5, 16, 67, 130}) {
      const Tensor weight = random_tensor({out, in}, ++seed);
      const PackedMatrix packed(weight);
      EXPECT_EQ(packed.in(), in);
      EXPECT_EQ(packed.out(), out);
      for (const int64_t rows : {1, 2, 7, 33, 1, 64}) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
        const Tensor x = random_tensor({rows, in}, ++seed);
        EXPECT_TRUE(all_close(product_of(packed, x), reference_linear(x, weight, {}),
                              product_tolerance(in)));
      }
    }
  }
}

TEST(PackedMatrix, FusesBiasActivationAndResidualInThatOrder) {
  const int64_t rows = 9, in = 48, out = 37;
  const Tensor weight = random_tensor({out, in}, 1, 0.3f);
  const Tensor x = random_tensor({rows, in}, 2);
  const Tensor bias = random_tensor({out}, 3);
  const Tensor residual = random_tensor({rows, out}, 4);
  const PackedMatrix packed(weight);
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
        Activation::kQuickGelu, Activation::kSilu, Activation::kSigmoid, Activation::kTanh}) {
    for (const bool has_bias : {false, true}) {
      for (const bool has_residual : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "activation " << static_cast<int>(activation)
                                          << " bias " << has_bias << " residual " << has_residual);
        Epilogue epilogue{.activation = activation};
        if (has_bias) epilogue.bias = bias.values<float>();
        if (has_residual) epilogue.residual = residual.matrix<float>();
        const std::vector<double> expected = reference_linear(x, weight, epilogue);
        EXPECT_TRUE(all_close(product_of(packed, x, epilogue), expected, product_tolerance(in)));
        if (!has_residual) continue;
        Tensor in_place = residual.clone();
        const MatrixView<float> view = in_place.mutable_matrix<float>();
        epilogue.residual = view;
        packed.apply(x.matrix<float>(), epilogue, view);
        EXPECT_TRUE(all_close(in_place, expected, product_tolerance(in)));
      }
    }
  }
}

TEST(PackedMatrix, ReadsAndWritesStridedRowsOnly) {
  const int64_t rows = 11, in = 20, out = 13;
  const Tensor weight = random_tensor({out, in}, 5);
  const Tensor wide = random_tensor({rows, in + 7}, 6);
  const Tensor residual = random_tensor({rows, out + 3}, 7);
  Tensor result = Tensor::uninitialized({rows, out + 5});
  std::ranges::fill(result.mutable_values<float>(), 42.0f);
  const Epilogue epilogue{.residual = residual.matrix<float>().block(0, 1, rows, out)};
  PackedMatrix(weight).apply(wide.matrix<float>().block(0, 4, rows, in), epilogue,
                             result.mutable_matrix<float>().block(0, 2, rows, out));
  Tensor x = Tensor::uninitialized({rows, in});
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < in; ++i) {
      x.mutable_matrix<float>()(r, i) = wide.matrix<float>()(r, i + 4);
    }
  }
  const std::vector<double> expected = reference_linear(x, weight, epilogue);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < out + 5; ++c) {
      const float value = result.matrix<float>()(r, c);
      if (c < 2 || c >= out + 2) {
        EXPECT_EQ(value, 42.0f);
      } else {
        EXPECT_NEAR(value, expected[static_cast<size_t>(r * out + c - 2)], product_tolerance(in));
      }
    }
  }
}

TEST(PackedMatrix, TakesHalfPrecisionAndTransposedWeights) {
  const Tensor weight = random_tensor({12, 31}, 8);
  const Tensor x = random_tensor({6, 31}, 9);
  for (const DType type : {DType::kF16, DType::kBF16}) {
    const Tensor rounded = convert(weight, type);
    const Tensor widened = convert(rounded, DType::kF32);
    EXPECT_TRUE(all_close(product_of(PackedMatrix(rounded), x), reference_linear(x, widened, {}),
                          product_tolerance(31)));
  }
  Tensor transposed = Tensor::uninitialized({31, 12});
  for (int64_t o = 0; o < 12; ++o) {
    for (int64_t i = 0; i < 31; ++i) {
      transposed.mutable_matrix<float>()(i, o) = weight.matrix<float>()(o, i);
    }
  }
  const PackedMatrix packed(transposed, DType::kF32, WeightLayout::kInOut);
  EXPECT_TRUE(
      all_close(product_of(packed, x), reference_linear(x, weight, {}), product_tolerance(31)));
  EXPECT_TRUE(all_close(packed.unpack(), to_doubles(weight), 0));
}

TEST(PackedMatrix, ManyRowCountsFromManyThreads) {
  const Tensor weight = random_tensor({24, 40}, 18);
  const PackedMatrix packed(weight);
  std::vector<std::thread> threads;
  std::vector<int> failures(4, 0);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t rows = 1; rows <= 40; ++rows) {  // more than the cache of primitives holds
        const Tensor x = random_tensor({rows, 40}, static_cast<uint64_t>(rows) * 10 + t);
        const Tensor y = product_of(packed, x, {.activation = Activation::kRelu});
        const auto expected = reference_linear(x, weight, {.activation = Activation::kRelu});
        if (!all_close(y, expected, product_tolerance(40))) ++failures[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, ::testing::Each(0));
}

TEST(PackedMatrix, PackedCopyIsNoLargerThanThePaddedWeights) {
  const PackedMatrix packed(random_tensor({768, 512}, 19));
  EXPECT_EQ(packed.bytes(), 768u * 512u * sizeof(float));
}

TEST(PackedMatrix, NoRowsIsNoWork) {
  const PackedMatrix packed(random_tensor({4, 3}, 20));
  EXPECT_EQ(product_of(packed, Tensor(Shape{0, 3})).elements(), 0);
}

TEST(PackedMatrix, RefusesWhatDoesNotFit) {
  EXPECT_THROW(PackedMatrix(Tensor(Shape{3})), Error);
  EXPECT_THROW(PackedMatrix(Tensor(Shape{0, 3})), Error);
  EXPECT_THROW(PackedMatrix(Tensor(Shape{2, 3}, DType::kI32)), Error);
  EXPECT_THROW(PackedMatrix(Tensor(Shape{2, 3}), DType::kF16), Error);
  const PackedMatrix packed(random_tensor({4, 3}, 21));
  EXPECT_THROW(product_of(packed, Tensor(Shape{2, 4})), Error);
  const std::vector<float> bias(3);
  EXPECT_THROW(product_of(packed, Tensor(Shape{2, 3}), {.bias = bias}), Error);
  const Tensor residual(Shape{1, 4});
  EXPECT_THROW(product_of(packed, Tensor(Shape{2, 3}), {.residual = residual.matrix<float>()}),
               Error);
  Tensor out(Shape{3, 4});
  EXPECT_THROW(packed.apply(Tensor(Shape{2, 3}).matrix<float>(), {}, out.mutable_matrix<float>()),
               Error);
}

TEST(Matmul, MatchesDoubleWithTransposesAlphaAndBeta) {
  uint64_t seed = 100;
  for (const int64_t rows : {1, 7, 33}) {
    for (const int64_t depth : {1, 19, 64}) {
      for (const int64_t cols : {1, 5, 40}) {
        for (int flags = 0; flags < 8; ++flags) {
          const bool ta = (flags & 1) != 0, tb = (flags & 2) != 0;
          const float beta = (flags & 4) != 0 ? 0.5f : 0.0f;
          const Tensor a =
              ta ? random_tensor({depth, rows}, ++seed) : random_tensor({rows, depth}, ++seed);
          const Tensor b =
              tb ? random_tensor({cols, depth}, ++seed) : random_tensor({depth, cols}, ++seed);
          Tensor out = random_tensor({rows, cols}, ++seed);
          std::vector<double> expected;
          const auto va = a.matrix<float>(), vb = b.matrix<float>();
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < cols; ++c) {
              double sum = 0;
              for (int64_t k = 0; k < depth; ++k) {
                sum += double{ta ? va(k, r) : va(r, k)} * double{tb ? vb(c, k) : vb(k, c)};
              }
              expected.push_back(-1.5 * sum + beta * double{out.matrix<float>()(r, c)});
            }
          }
          if (beta == 0) {  // then what was there before must not matter
            std::ranges::fill(out.mutable_values<float>(), std::numeric_limits<float>::quiet_NaN());
          }
          matmul(va, vb, out.mutable_matrix<float>(),
                 {.transpose_a = ta, .transpose_b = tb, .alpha = -1.5f, .beta = beta});
          EXPECT_TRUE(all_close(out, expected, 2 * product_tolerance(depth)));
        }
      }
    }
  }
}

TEST(Matmul, EmptySumsAreBetaTimesOut) {
  const Tensor a(Shape{2, 0}), b(Shape{0, 3});
  Tensor out = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const MatrixView<const float> va(a.values<float>().data(), 2, 0),
      vb(b.values<float>().data(), 0, 3);
  matmul(va, vb, out.mutable_matrix<float>(), {.beta = 2});
  EXPECT_TRUE(all_close(out, std::vector<double>{2, 4, 6, 8, 10, 12}, 0));
  matmul(va, vb, out.mutable_matrix<float>());
  EXPECT_TRUE(all_close(out, std::vector<double>(6), 0));
}

TEST(Matmul, RefusesShapesThatDoNotFit) {
  const Tensor a(Shape{2, 3}), b(Shape{4, 5});
  Tensor out(Shape{2, 5});
  EXPECT_THROW(matmul(a.matrix<float>(), b.matrix<float>(), out.mutable_matrix<float>()), Error);
}

}  // namespace
}  // namespace fovea
