#include "fovea/kernels/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using testing::all_close;
using testing::random_floats;
using testing::random_tensor;
using testing::to_doubles;

double activated(Activation activation, double z) {
  switch (activation) {
    case Activation::kNone:
      return z;
    case Activation::kRelu:
      return z > 0 ? z : 0;
    case Activation::kGelu:
      return 0.5 * z * std::erfc(-z / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return 0.5 * z * (1 + std::tanh(std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z)));
    case Activation::kQuickGelu:
      return z / (1 + std::exp(-1.702 * z));
    case Activation::kSilu:
      return z / (1 + std::exp(-z));
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-z));
    case Activation::kTanh:
      return std::tanh(z);
  }
  return 0;
}

// activation(x W^T + bias) + residual for `weight` [out, in].
std::vector<double> reference_linear(const Tensor& x, const Tensor& weight,
                                     const Epilogue& epilogue) {
  const auto a = x.matrix<float>(), w = weight.matrix<float>();
  std::vector<double> result;
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t o = 0; o < w.rows; ++o) {
      double z = epilogue.bias.empty() ? 0 : double{epilogue.bias[static_cast<size_t>(o)]};
      for (int64_t i = 0; i < w.cols; ++i) z += double{a(r, i)} * double{w(o, i)};
      z = activated(epilogue.activation, z);
      if (epilogue.residual.data != nullptr) z += double{epilogue.residual(r, o)};
      result.push_back(z);
    }
  }
  return result;
}

Tensor apply(const PackedMatrix& packed, const Tensor& x, const Epilogue& epilogue = {}) {
  Tensor out = Tensor::uninitialized({x.size(0), packed.out()});
  packed.apply(x.matrix<float>(), epilogue, out.mutable_matrix<float>());
  return out;
}

// `in` roundings one after the other, each half an ulp of a partial sum of size about sqrt(in):
// together 6e-8 * in, and three times that for the worst of thousands of results.
double tolerance(int64_t in) {
  return 2e-7 * static_cast<double>(in) + 1e-6;
}

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
        EXPECT_TRUE(all_close(apply(packed, x), reference_linear(x, weight, {}), tolerance(in)));
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
        EXPECT_TRUE(all_close(apply(packed, x, epilogue), expected, tolerance(in)));
        if (!has_residual) continue;
        Tensor in_place = residual.clone();
        const MatrixView<float> view = in_place.mutable_matrix<float>();
        epilogue.residual = view;
        packed.apply(x.matrix<float>(), epilogue, view);
        EXPECT_TRUE(all_close(in_place, expected, tolerance(in)));
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
        EXPECT_NEAR(value, expected[static_cast<size_t>(r * out + c - 2)], tolerance(in));
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
    EXPECT_TRUE(all_close(apply(PackedMatrix(rounded), x), reference_linear(x, widened, {}),
                          tolerance(31)));
  }
  Tensor transposed = Tensor::uninitialized({31, 12});
  for (int64_t o = 0; o < 12; ++o) {
    for (int64_t i = 0; i < 31; ++i) {
      transposed.mutable_matrix<float>()(i, o) = weight.matrix<float>()(o, i);
    }
  }
  const PackedMatrix packed(transposed, DType::kF32, WeightLayout::kInOut);
  EXPECT_TRUE(all_close(apply(packed, x), reference_linear(x, weight, {}), tolerance(31)));
  EXPECT_TRUE(all_close(packed.unpack(), to_doubles(weight), 0));
}

TEST(PackedMatrix, Bf16RoundsInputsAndSumsInFloat) {
  const Tensor weight = random_tensor({45, 200}, 10);
  const Tensor x = random_tensor({19, 200}, 11);
  const Tensor bias = random_tensor({45}, 12);
  const Tensor residual = random_tensor({19, 45}, 13);
  const PackedMatrix packed(weight, DType::kBF16);
  const Epilogue epilogue{.bias = bias.values<float>(),
                          .activation = Activation::kGelu,
                          .residual = residual.matrix<float>()};
  Tensor rounded_x = x, rounded_weight = weight;
  if (packed.compute_dtype() == DType::kBF16) {
    rounded_x = convert(convert(x, DType::kBF16), DType::kF32);
    rounded_weight = convert(convert(weight, DType::kBF16), DType::kF32);
  }
  const auto expected = reference_linear(rounded_x, rounded_weight, epilogue);
  EXPECT_TRUE(all_close(apply(packed, x, epilogue), expected, tolerance(200), 1e-6));
  EXPECT_TRUE(all_close(packed.unpack(), to_doubles(rounded_weight), 0));
}

// Runs in a process of its own, where oneDNN has not looked at the processor yet.
bool falls_back_to_f32() {
  setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  const Tensor weight = random_tensor({33, 21}, 14), x = random_tensor({5, 21}, 15);
  const Tensor residual = random_tensor({5, 33}, 16), bias = random_tensor({33}, 17);
  const PackedMatrix packed(weight, DType::kBF16);
  if (packed.compute_dtype() != DType::kF32) return false;
  for (const Activation activation : {Activation::kNone, Activation::kGelu, Activation::kSilu}) {
    const Epilogue epilogue{.bias = bias.values<float>(),
                            .activation = activation,
                            .residual = residual.matrix<float>()};
    const auto expected = reference_linear(x, weight, epilogue);
    if (!all_close(apply(packed, x, epilogue), expected, tolerance(21))) return false;
  }
  return true;
}

TEST(PackedMatrix, FallsBackToF32WithoutBf16Instructions) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(std::exit(falls_back_to_f32() ? 0 : 1), ::testing::ExitedWithCode(0), "");
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
        const Tensor y = apply(packed, x, {.activation = Activation::kRelu});
        const auto expected = reference_linear(x, weight, {.activation = Activation::kRelu});
        if (!all_close(y, expected, tolerance(40))) ++failures[t];
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
  EXPECT_EQ(apply(packed, Tensor(Shape{0, 3})).elements(), 0);
}

TEST(PackedMatrix, RefusesWhatDoesNotFit) {
  EXPECT_THROW(PackedMatrix(Tensor(Shape{3})), Error);
  EXPECT_THROW(PackedMatrix(Tensor(Shape{0, 3})), Error);
  EXPECT_THROW(PackedMatrix(Tensor(Shape{2, 3}, DType::kI32)), Error);
  EXPECT_THROW(PackedMatrix(Tensor(Shape{2, 3}), DType::kF16), Error);
  const PackedMatrix packed(random_tensor({4, 3}, 21));
  EXPECT_THROW(apply(packed, Tensor(Shape{2, 4})), Error);
  const std::vector<float> bias(3);
  EXPECT_THROW(apply(packed, Tensor(Shape{2, 3}), {.bias = bias}), Error);
  const Tensor residual(Shape{1, 4});
  EXPECT_THROW(apply(packed, Tensor(Shape{2, 3}), {.residual = residual.matrix<float>()}), Error);
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
          EXPECT_TRUE(all_close(out, expected, 2 * tolerance(depth)));
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
