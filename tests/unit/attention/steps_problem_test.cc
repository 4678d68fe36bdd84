#include "fovea/attention/steps_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string steps_refusal(std::string_view text, const StepsSettings& settings = {}) {
  try {
    parse_steps(text, "three.json", settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(StepsProblem, NamesWhatIsMissingAndWhatItStandsFor) {
  const StepsProblem problem = parse_steps(
      R"({"inputs": [[1, 0], [0, 2]], "Wv": [[1], [1]], "mask": "causal"})", "two.json");
  EXPECT_TRUE(problem.causal);
  EXPECT_THAT(problem.left_to_identity, ElementsAre("Wq", "Wk", "Wo"));
  EXPECT_EQ(problem.labels.size(), 2U);

  const StepsResult result = compute_steps(problem);
  EXPECT_LT(result.forms_differ_by, 1e-12);
  ASSERT_EQ(result.attention.heads.size(), 1U);
  // The first position sees itself alone.
  EXPECT_DOUBLE_EQ(result.attention.heads[0].weights(0, 0), 1);
  EXPECT_DOUBLE_EQ(result.attention.heads[0].weights(0, 1), 0);
}

TEST(StepsProblem, ReadsAMemoryHardAndSoft) {
  const StepsResult result = compute_steps(parse_steps(
      R"({"memory": {"keys": [[1, 0], [0, 1]], "values": [[10], [20]]}, "queries": [[3, 0]]})",
      "memory.json"));
  ASSERT_EQ(result.hard.size(), 1U);
  ASSERT_EQ(result.soft.size(), 1U);
}

TEST(StepsProblem, RefusesWithBothFacts) {
  EXPECT_THAT(steps_refusal("{}"), HasSubstr("three.json"));
  EXPECT_THAT(steps_refusal(R"({"inputs": [[1, 2], [3]]})"), HasSubstr("three.json"));
  EXPECT_THAT(steps_refusal(R"({"inputs": [[1, 2]], "Wx": [[1]]})"), HasSubstr("Wx"));
  EXPECT_THAT(
      steps_refusal(R"({"inputs": [[1, 2]]})", {.similarity = "additive", .temperature = {}}),
      HasSubstr("has no Wa_q"));
}

}  // namespace
}  // namespace fovea
