#include "fovea/tensor/stored_matrix.h"

#include <gtest/gtest.h>

#include <vector>

namespace fovea {
namespace {

float first_of_row(const StoredMatrix& matrix, int64_t row) {
  return *reinterpret_cast<const float*>(matrix.row(row));
}

TEST(StoredMatrix, BlocksTakeTheRoomThatTheirFormatSays) {
  for (int i = 0; i < kStoredFormats; ++i) {
    const auto format = static_cast<StoredFormat>(i);
    const StoredBlock& block = stored_block(format);
    const StoredMatrix matrix(format, 3, 2 * block.elements,
                              Tensor({3 * 2 * block.bytes}, DType::kU8));
    EXPECT_EQ(matrix.shape(), Shape({3, 2 * block.elements})) << block.name;
    EXPECT_EQ(matrix.row(2) - matrix.row(0), 2 * 2 * block.bytes) << block.name;
    EXPECT_LE(block.scales_at + 2 * block.scales, block.bytes) << block.name;
  }
}

TEST(StoredMatrix, OfPlainNumbersBorrowsThem) {
  const Tensor numbers = Tensor::from<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const StoredMatrix matrix = numbers;
  EXPECT_EQ(matrix.numbers().raw(), numbers.raw());
  EXPECT_EQ(first_of_row(matrix, 1), 4);
  EXPECT_EQ(matrix.transposed().shape(), Shape({3, 2}));
  EXPECT_TRUE(matrix.transposed().is_transposed());
  EXPECT_FALSE(matrix.transposed().transposed().is_transposed());
  EXPECT_THROW(StoredMatrix(Tensor({4})), Error);
  EXPECT_THROW(StoredMatrix(Tensor({2, 2}, DType::kI32)), Error);
  EXPECT_TRUE(StoredMatrix().empty());
}

TEST(StoredMatrix, MixedHalvesAreCountedHalfByHalf) {
  // Two heads of four rows, in the file 0 2 1 3: first of one half, first of the other, ...
  std::vector<float> stored{0, 2, 1, 3, 4, 6, 5, 7};
  const StoredMatrix matrix =
      StoredMatrix(Tensor::from<float>({8, 1}, stored)).with_halves_mixed(2);
  for (int64_t r = 0; r < 8; ++r) EXPECT_EQ(first_of_row(matrix, r), static_cast<float>(r));
}

}  // namespace
}  // namespace fovea
