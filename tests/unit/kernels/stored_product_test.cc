#include "fovea/kernels/stored_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/kernels/fixed_point.h"
#include "fovea/kernels/row_products.h"
#include "fovea/kernels/unpack.h"
#include "support/compare.h"
#include "support/products.h"
#include "support/random.h"
#include "support/simd_targets.h"
#include "support/stored.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::largest_magnitude;
using support::product_of;
using support::random_stored;
using support::random_tensor;
using support::reference_linear;
using support::to_doubles;

// Row by row, as the matrix is meant.
Tensor numbers_of(const StoredMatrix& matrix) {
  Tensor numbers = Tensor::uninitialized(matrix.shape());
  for (int64_t r = 0; r < matrix.rows(); ++r) {
    unpack(matrix.format(), matrix.row(r), matrix.cols(), numbers.mutable_matrix<float>().row(r));
  }
  return numbers;
}

// The error of an f32 sum of so many terms, of numbers around those.
double rounding_of(const std::vector<double>& expected, int64_t terms) {
  return 3e-7 * std::sqrt(static_cast<double>(terms)) * (1 + largest_magnitude(expected));
}

std::vector<StoredFormat> all_formats() {
  std::vector<StoredFormat> formats;
  for (int i = 0; i < kStoredFormats; ++i) formats.push_back(static_cast<StoredFormat>(i));
  return formats;
}

// Through `matrix`, with and without what follows the product.
void expect_products(const PackedMatrix& matrix, const Tensor& numbers, int64_t rows) {
  const int64_t in = matrix.in(), out = matrix.out();
  SCOPED_TRACE(::testing::Message() << rows << " x " << in << " -> " << out);
  const Tensor x = random_tensor({rows, in}, static_cast<uint64_t>(rows + in));
  const Tensor bias = random_tensor({out}, 3), residual = random_tensor({rows, out}, 4);
  for (const Activation activation : {Activation::kNone, Activation::kSilu}) {
    Epilogue epilogue{.bias = bias.values<float>(),
                      .activation = activation,
                      .residual = residual.matrix<float>()};
    const std::vector<double> expected = reference_linear(x, numbers, epilogue);
    EXPECT_TRUE(all_close(product_of(matrix, x, epilogue), expected, rounding_of(expected, in)));
    Tensor in_place = residual.clone();
    epilogue.residual = std::as_const(in_place).matrix<float>();
    matrix.apply(x.matrix<float>(), epilogue, in_place.mutable_matrix<float>());
    EXPECT_TRUE(all_close(in_place, expected, rounding_of(expected, in)));
  }
  const std::vector<double> plain = reference_linear(x, numbers, {});
  EXPECT_TRUE(all_close(product_of(matrix, x), plain, rounding_of(plain, in)));
}

TEST(StoredProduct, EveryFormatIsMultipliedFromItsBlocksOnEverySimdTarget) {
  for (const StoredFormat format : all_formats()) {
    SCOPED_TRACE(stored_block(format).name);
    const StoredMatrix weight = random_stored(format, 21, 512, 7);
    const Tensor numbers = numbers_of(weight);
    const PackedMatrix matrix = PackedMatrix::as_stored(weight);
    EXPECT_EQ(matrix.bytes(), weight.bytes());
    EXPECT_TRUE(all_close(matrix.unpack(), to_doubles(numbers), 0));
    for_each_simd_target([&] {
      for (const int64_t rows : {1, 2, 3, 6, 9, 13}) expect_products(matrix, numbers, rows);
    });
    for (const int64_t rows : {kFewRows, kFewRows + 1, int64_t{70}}) {
      expect_products(matrix, numbers, rows);
    }
  }
}

TEST(StoredProduct, PlainNumbersOfAnyShapeAreMultiplied) {
  for (const StoredFormat format : {StoredFormat::kF16, StoredFormat::kBF16}) {
    for (const int64_t in : {1, 15, 33}) {
      for (const int64_t out : {1, 7, 8, 70}) {
        const StoredMatrix weight = random_stored(format, out, in, 5);
        const PackedMatrix matrix(weight);
        const Tensor numbers = numbers_of(weight);
        for_each_simd_target([&] {
          for (const int64_t rows : {1, 5, 11}) expect_products(matrix, numbers, rows);
        });
        expect_products(matrix, numbers, 40);
      }
    }
  }
}

TEST(StoredProduct, PanelsJoinToTheWholeOutput) {
  // Panels of 256 outputs and one of what is left.
  const StoredMatrix weight = random_stored(StoredFormat::kQ4K, 600, 4096, 8);
  expect_products(PackedMatrix(weight), numbers_of(weight), 40);
}

TEST(StoredProduct, MixedHalvesAndTheTransposeAreSeenThrough) {
  for (const int64_t rows : {1, 40}) {
    for (const StoredFormat format : {StoredFormat::kQ8_0, StoredFormat::kF32}) {
      const StoredMatrix mixed = random_stored(format, 24, 64, 9).with_halves_mixed(3);
      expect_products(PackedMatrix(mixed), numbers_of(mixed), rows);
    }
    for (const DType type : {DType::kF16, DType::kF32}) {
      const Tensor in_out = convert(random_tensor({40, 70}, 10), type);
      const Tensor wide = convert(in_out, DType::kF32);
      Tensor numbers = Tensor::uninitialized({70, 40});
      for (int64_t o = 0; o < 70; ++o) {
        for (int64_t i = 0; i < 40; ++i) {
          numbers.mutable_matrix<float>()(o, i) = wide.matrix<float>()(i, o);
        }
      }
      expect_products(PackedMatrix(in_out, DType::kF32, WeightLayout::kInOut), numbers, rows);
      // What GPT-2 is in a GGUF file: [in, out] that lies as [out, in].
      expect_products(PackedMatrix(StoredMatrix(convert(numbers, type)).transposed(), DType::kF32,
                                   WeightLayout::kInOut),
                      numbers, rows);
    }
  }
}

TEST(StoredProduct, IntegersAreMadeFromTheBlocks) {
  const StoredMatrix weight = random_stored(StoredFormat::kQ4K, 70, 512, 11);
  const PackedMatrix matrix = PackedMatrix::as_stored(weight, DType::kI16);
  const Tensor exact = numbers_of(weight);
  const Tensor seen = matrix.unpack();
  // Rounded to 1/32767 of the row's largest or 1/46000 of its norm.
  EXPECT_TRUE(
      all_close(seen, to_doubles(exact), 2 * largest_magnitude(to_doubles(exact)) * 512 / 46000));
  for (const int64_t rows : {1, 5, 40}) {
    Tensor x = random_tensor({rows, 512}, 12);
    const std::vector<double> expected = reference_linear(x, exact, {});
    // 6e-6 |a| |b| for each side.
    const double bound =
        4e-5 * std::sqrt(512.0) * std::sqrt(512.0) * largest_magnitude(to_doubles(exact));
    EXPECT_TRUE(all_close(product_of(matrix, x), expected, bound));
    // One token at a time is as many.
    const Tensor whole = product_of(matrix, x);
    Tensor first = Tensor::uninitialized({1, 70});
    matrix.apply(x.matrix<float>().block(0, 0, 1, 512), {}, first.mutable_matrix<float>());
    const std::vector<double> row = to_doubles(whole.values<float>().first(70));
    EXPECT_TRUE(all_close(first, row, 1e-5 * (1 + largest_magnitude(row))));
  }
}

}  // namespace
}  // namespace fovea
