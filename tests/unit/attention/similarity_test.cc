#include "fovea/attention/similarity.h"

#include <gmock/gmock.h>

#include <cmath>

#include "unit/attention/random_matrix.h"

namespace fovea {
namespace {

using support::random_matrix;
using support::random_vector;
using Vector = std::vector<double>;

Additive random_additive(int64_t query_width, int64_t key_width, int64_t hidden,
                         std::mt19937& random) {
  return {random_matrix(query_width, hidden, random), random_matrix(key_width, hidden, random),
          random_vector(hidden, random)};
}

TEST(Similarity, DotProductIsTheSumOfProducts) {
  EXPECT_EQ(score(DotProduct{}, Vector{1, 2, 3}, Vector{4, -5, 6}), 12);
}

TEST(Similarity, ScaledDotProductDividesByTheRootOfTheWidth) {
  EXPECT_DOUBLE_EQ(score(ScaledDotProduct{}, Vector{1, 1, 1, 1}, Vector{2, 2, 2, 2}), 8 / 2.0);
  EXPECT_EQ(raw_score(ScaledDotProduct{}, Vector{1, 1, 1, 1}, Vector{2, 2, 2, 2}), 8);
}

TEST(Similarity, CosineIgnoresLengthAndIsZeroForAZeroVector) {
  EXPECT_DOUBLE_EQ(score(Cosine{}, Vector{1, 0}, Vector{5, 5}), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(score(Cosine{}, Vector{3, 4}, Vector{-6, -8}), -1);
  EXPECT_EQ(score(Cosine{}, Vector{0, 0}, Vector{1, 2}), 0);
}

TEST(Similarity, CosineOfTinyAndHugeVectorsNeitherVanishesNorOverflows) {
  EXPECT_DOUBLE_EQ(score(Cosine{}, Vector{1e-200, 1e-200}, Vector{1e200, 0}), std::sqrt(0.5));
}

TEST(Similarity, AdditiveIsTheSmallNetworkOfItsFormula) {
  const Additive additive{Matrix{{1, 0}, {0, 1}}, Matrix{{0, 2}}, {3, -1}};
  // v . tanh(q Wq + k Wk) with q = (0.5, 1), k = (0.25).
  const double expected = 3 * std::tanh(0.5) - std::tanh(1 + 0.5);
  EXPECT_DOUBLE_EQ(score(additive, Vector{0.5, 1}, Vector{0.25}), expected);
}

TEST(Similarity, TheMatrixFormEqualsThePairsForEveryKind) {
  std::mt19937 random(1);
  const Matrix queries = random_matrix(5, 4, random);
  const Matrix keys = random_matrix(7, 4, random);
  const Similarity kinds[] = {DotProduct{}, ScaledDotProduct{}, Cosine{},
                              random_additive(4, 4, 3, random)};
  for (const Similarity& similarity : kinds) {
    SCOPED_TRACE(name_of(similarity));
    const Matrix scores = raw_score_matrix(similarity, queries, keys);
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        // Sums of 4 products of size 1 in another order: some units in the last place.
        EXPECT_NEAR(scores(i, j), raw_score(similarity, queries.row(i), keys.row(j)), 1e-14);
      }
    }
  }
}

TEST(Similarity, NamesAreThoseOfTheCommandLine) {
  EXPECT_EQ(name_of(DotProduct{}), "dot");
  EXPECT_EQ(name_of(ScaledDotProduct{}), "scaled");
  EXPECT_EQ(name_of(Cosine{}), "cosine");
  EXPECT_EQ(name_of(Additive{}), "additive");
}

TEST(Similarity, RefusesVectorsOfDifferentWidth) {
  try {
    score(DotProduct{}, Vector{1, 2}, Vector{1, 2, 3});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("width 2 but keys have width 3"));
  }
}

TEST(Similarity, RefusesAdditiveWeightsOfAnotherShape) {
  const Additive additive{Matrix(2, 3), Matrix(2, 2), {1, 1, 1}};
  EXPECT_THROW(score(additive, Vector{1, 2}, Vector{1, 2}), Error);
}

}  // namespace
}  // namespace fovea
