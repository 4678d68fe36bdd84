#include "fovea/attention/matrix.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The message of the Error that `action` throws, or "" if it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(Matrix, KeepsRowsInOrder) {
  const Matrix matrix{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.cols(), 3);
  EXPECT_EQ(matrix(1, 0), 4);
  EXPECT_THAT(matrix.row(0), ElementsAre(1, 2, 3));
  EXPECT_THAT(matrix.column(2), ElementsAre(3, 6));
}

TEST(Matrix, RefusesRaggedRows) {
  EXPECT_THAT(error_of([] {
                Matrix::from_rows({{1, 2}, {3}});
              }),
              HasSubstr("row 1 has 1 numbers but row 0 has 2"));
}

TEST(Matrix, RefusesNegativeSizes) {
  EXPECT_THAT(error_of([] { Matrix(-1, 2); }), HasSubstr("-1 x 2"));
}

TEST(Matrix, MultipliesByTheDefinition) {
  EXPECT_EQ(multiply({{1, 2}, {3, 4}}, {{5, 6, 7}, {8, 9, 10}}),
            (Matrix{{21, 24, 27}, {47, 54, 61}}));
}

TEST(Matrix, ProductWithIdentityIsTheMatrix) {
  const Matrix matrix{{1, -2}, {0.5, 4}, {7, 0}};
  EXPECT_EQ(multiply(matrix, Matrix::identity(2)), matrix);
  EXPECT_EQ(multiply(Matrix::identity(3), matrix), matrix);
}

TEST(Matrix, RefusesAProductOfUnequalSizesWithBothShapes) {
  EXPECT_THAT(error_of([] { multiply(Matrix(2, 3), Matrix(2, 4)); }),
              HasSubstr("[2 x 3] cannot be multiplied with [2 x 4]"));
}

TEST(Matrix, TransposesAndSlicesAndJoins) {
  const Matrix matrix{{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(transpose(matrix), (Matrix{{1, 4}, {2, 5}, {3, 6}}));
  const Matrix left = slice_columns(matrix, 0, 1);
  const Matrix right = slice_columns(matrix, 1, 2);
  EXPECT_EQ(right, (Matrix{{2, 3}, {5, 6}}));
  const std::vector<Matrix> parts{left, right};
  EXPECT_EQ(join_columns(parts), matrix);
}

TEST(Matrix, RefusesASliceBeyondTheLastColumn) {
  EXPECT_THAT(error_of([] { slice_columns(Matrix(2, 3), 2, 2); }), HasSubstr("[2 x 3]"));
}

TEST(Matrix, RefusesToJoinUnequalHeights) {
  const std::vector<Matrix> parts{Matrix(2, 1), Matrix(3, 1)};
  EXPECT_THAT(error_of([&] { join_columns(parts); }), HasSubstr("[2 x 1] and [3 x 1]"));
}

TEST(MaxDifference, FindsTheLargestAndTakesEqualInfinitiesAsEqual) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(max_difference({{1, -infinity}}, {{1.5, -infinity}}), 0.5);
  EXPECT_EQ(max_difference({{1, 2}}, {{1, -infinity}}), infinity);
}

TEST(MaxDifference, NeverHidesANaN) {
  EXPECT_TRUE(std::isinf(max_difference({{std::nan(""), 0}}, {{0, 0}})));
}

}  // namespace
}  // namespace fovea
