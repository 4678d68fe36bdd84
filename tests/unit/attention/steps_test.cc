#include "fovea/attention/steps.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "unit/attention/random_matrix.h"

namespace fovea {
namespace {

using support::random_matrix;
using support::random_vector;
using ::testing::Each;
using ::testing::HasSubstr;

std::string refusal_of(const AttentionProblem& problem) {
  try {
    validate(problem);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "";
}

// A problem of random sizes with some of the optional parts left out.
AttentionProblem random_problem(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  AttentionProblem problem;
  const int64_t heads = pick(1, 4);
  const int64_t width = heads * pick(1, 4);
  const int64_t value_width = pick(0, 1) == 0 ? width : heads * pick(1, 3);
  const int64_t rows = pick(1, 9);
  problem.heads = heads;
  problem.inputs = random_matrix(rows, width, random);
  if (pick(0, 1) == 1) problem.source = random_matrix(pick(1, 9), width, random);
  const int64_t cols = problem.sources().rows();
  if (pick(0, 3) > 0) problem.query = {random_matrix(width, width, random), {}};
  if (pick(0, 3) > 0)
    problem.key = {random_matrix(width, width, random), random_vector(width, random)};
  if (value_width != width || pick(0, 3) > 0) {
    problem.value = {random_matrix(width, value_width, random), random_vector(value_width, random)};
  }
  if (pick(0, 3) > 0) problem.output = {random_matrix(value_width, pick(1, 6), random), {}};
  switch (pick(0, 3)) {
    case 0:
      problem.similarity = DotProduct{};
      break;
    case 1:
      problem.similarity = Cosine{};
      break;
    case 2:
      problem.similarity =
          Additive{random_matrix(width / heads, 3, random), random_matrix(width / heads, 3, random),
                   random_vector(3, random)};
      break;
    default:
      break;
  }
  if (pick(0, 3) == 0) problem.scale = 0.25;
  if (pick(0, 2) == 0) problem.temperature = 0.5 * static_cast<double>(pick(0, 4));
  if (pick(0, 1) == 0) {
    problem.mask = Matrix(rows, cols);
    for (int64_t i = 0; i < rows; ++i) {
      for (double& entry : problem.mask->row(i)) entry = static_cast<double>(pick(0, 1));
    }
  }
  return problem;
}

TEST(AttentionSteps, BothFormsAgreeOnEveryIntermediateOfRandomProblems) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const AttentionProblem problem = random_problem(seed);
    // The contract is 1e-6; sums of at most 16 products in double stay far below it.
    EXPECT_LT(max_difference(attend_by_vectors(problem), attend_by_matrices(problem)), 1e-9);
  }
}

TEST(AttentionSteps, EveryRowSumsToOneOrSeesNothing) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const AttentionProblem problem = random_problem(seed);
    const AttentionSteps steps = attend_by_vectors(problem);
    for (const HeadSteps& head : steps.heads) {
      for (int64_t i = 0; i < problem.inputs.rows(); ++i) {
        bool sees = !problem.mask;
        for (int64_t j = 0; j < head.weights.cols() && !sees; ++j) {
          sees = (*problem.mask)(i, j) != 0;
        }
        // At most 9 roundings of numbers below 1.
        EXPECT_NEAR(head.row_sums[static_cast<size_t>(i)], sees ? 1 : 0, 1e-14) << seed;
      }
    }
  }
}

TEST(AttentionSteps, OneHeadByHand) {
  AttentionProblem problem;
  problem.inputs = {{1, 0}, {0, 1}};
  problem.value.weight = Matrix{{2, 0, 1}, {0, 4, 1}};
  const AttentionSteps steps = attend_by_vectors(problem);
  const double e = std::exp(1 / std::sqrt(2));
  const double own = e / (e + 1);
  const HeadSteps& head = steps.heads[0];
  EXPECT_EQ(head.scores, (Matrix{{1, 0}, {0, 1}}));
  EXPECT_DOUBLE_EQ(head.scaled(0, 0), 1 / std::sqrt(2));
  EXPECT_NEAR(head.weights(0, 0), own, 1e-15);
  EXPECT_NEAR(head.weights(0, 1), 1 - own, 1e-15);
  EXPECT_NEAR(head.mixed(0, 0), 2 * own, 1e-15);
  EXPECT_NEAR(head.mixed(0, 1), 4 * (1 - own), 1e-15);
  EXPECT_NEAR(head.mixed(0, 2), 1, 1e-15);
  EXPECT_EQ(steps.output, steps.joined);  // no Wo
}

TEST(AttentionSteps, HeadsAreConsecutivePartsOfTheColumns) {
  std::mt19937 random(3);
  AttentionProblem both;
  both.inputs = random_matrix(4, 6, random);
  both.heads = 2;
  const AttentionSteps steps = attend_by_matrices(both);
  for (int64_t h = 0; h < 2; ++h) {
    AttentionProblem alone;
    alone.inputs = slice_columns(both.inputs, 3 * h, 3);
    const Matrix expected = attend_by_matrices(alone).output;
    EXPECT_LT(max_difference(slice_columns(steps.joined, 3 * h, 3), expected), 1e-15);
  }
}

TEST(AttentionSteps, CrossAttentionAsksWithInputsAndAnswersFromTheSource) {
  AttentionProblem problem;
  problem.inputs = {{100, 0}};
  problem.source = Matrix{{0, 1}, {1, 0}, {0, -1}};
  const AttentionSteps steps = attend_by_vectors(problem);
  EXPECT_EQ(steps.heads[0].weights.cols(), 3);
  EXPECT_NEAR(steps.output(0, 0), 1, 1e-15);  // the second source vector fits by far
}

TEST(AttentionSteps, CausalMaskHidesTheFuture) {
  EXPECT_EQ(causal_mask(3), (Matrix{{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}));
  std::mt19937 random(4);
  AttentionProblem problem;
  problem.inputs = random_matrix(3, 4, random);
  problem.mask = causal_mask(3);
  const AttentionSteps steps = attend_by_vectors(problem);
  EXPECT_EQ(steps.heads[0].weights(0, 0), 1);
  EXPECT_EQ(steps.heads[0].weights(1, 2), 0);
  EXPECT_EQ(steps.heads[0].masked(0, 2), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(steps.heads[0].scaled(0, 2)));  // the score before the mask is kept
}

TEST(AttentionSteps, AQueryThatSeesNothingReceivesZerosInBothForms) {
  std::mt19937 random(5);
  AttentionProblem problem;
  problem.inputs = random_matrix(2, 2, random);
  problem.mask = Matrix{{1, 1}, {0, 0}};
  for (const AttentionSteps& steps : {attend_by_vectors(problem), attend_by_matrices(problem)}) {
    EXPECT_THAT(steps.heads[0].weights.row(1), Each(0.0));
    EXPECT_EQ(steps.heads[0].row_sums[1], 0);
    EXPECT_THAT(steps.output.row(1), Each(0.0));
  }
}

TEST(AttentionSteps, ScaleOfTheFileReplacesTheDefault) {
  AttentionProblem problem;
  problem.inputs = {{3, 0}, {0, 1}};
  problem.scale = 2;
  EXPECT_EQ(attend_by_vectors(problem).heads[0].scaled(0, 0), 18);
}

TEST(AttentionProblem, ErrorsNameThePartAndBothNumbers) {
  AttentionProblem good;
  good.inputs = Matrix(3, 4, 1.0);
  EXPECT_EQ(refusal_of(good), "");
  AttentionProblem bad = good;
  bad.query.weight = Matrix(3, 4);
  EXPECT_THAT(refusal_of(bad), HasSubstr("Wq has 3 rows but inputs have width 4"));
  bad = good;
  bad.value.bias = {1, 2};
  EXPECT_THAT(refusal_of(bad), HasSubstr("bv has 2 numbers but Wv gives 4"));
  bad = good;
  bad.heads = 3;
  EXPECT_THAT(refusal_of(bad), HasSubstr("3 heads cannot share queries of width 4"));
  bad = good;
  bad.heads = 0;
  EXPECT_THAT(refusal_of(bad), HasSubstr("heads is 0"));
  bad = good;
  bad.mask = Matrix(3, 2, 1.0);
  EXPECT_THAT(refusal_of(bad), HasSubstr("mask is [3 x 2] but there are 3 queries and 3 keys"));
  bad = good;
  bad.mask = Matrix(3, 3, 0.5);
  EXPECT_THAT(refusal_of(bad), HasSubstr("mask holds 0.5"));
  bad = good;
  bad.source = Matrix(2, 5, 1.0);
  EXPECT_THAT(refusal_of(bad), HasSubstr("queries have width 4 but keys have width 5"));
  bad = good;
  bad.output.weight = Matrix(2, 2);
  EXPECT_THAT(refusal_of(bad), HasSubstr("Wo has 2 rows but the joined heads have width 4"));
  bad = good;
  bad.scale = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal_of(bad), HasSubstr("scale is inf"));
  EXPECT_THAT(refusal_of({}), HasSubstr("at least one vector"));
}

}  // namespace
}  // namespace fovea
