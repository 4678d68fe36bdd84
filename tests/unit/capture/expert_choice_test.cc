#include "fovea/capture/expert_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fovea/capture/recorder.h"
#include "fovea/capture/run_file.h"
#include "support/errors.h"

namespace fovea {
namespace {

ExpertChoice choice_of(const std::vector<int64_t>& chosen, const std::vector<float>& shares) {
  const Shape shape{static_cast<int64_t>(chosen.size()) / 2, 2};
  return {.layer = 3,
          .experts = 5,
          .chosen = Tensor::from<int64_t>(shape, chosen),
          .shares = Tensor::from<float>(shape, shares)};
}

std::vector<int64_t> chosen_of(const ExpertChoice& choice) {
  return {choice.chosen.values<int64_t>().begin(), choice.chosen.values<int64_t>().end()};
}

TEST(ExpertChoice, StepsOfAGenerationComeOneBehindTheOther) {
  Recorder recorder;
  recorder.add(choice_of({4, 0, 1, 2}, {0.6F, 0.4F, 0.5F, 0.5F}));
  recorder.add(choice_of({3, 4}, {0.9F, 0.1F}));
  const std::vector<ExpertChoice> taken = recorder.take_experts();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].tokens(), 3);
  EXPECT_EQ(chosen_of(taken[0]), (std::vector<int64_t>{4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(taken[0].shares.values<float>()[4], 0.9F);
  EXPECT_TRUE(recorder.take_experts().empty());
}

TEST(ExpertChoice, IsKeptInARunFile) {
  fovea::Run run;
  run.model = "a model";
  run.experts.push_back(choice_of({4, 0, 1, 2}, {0.6F, 0.4F, 0.5F, 0.5F}));
  const auto path = std::filesystem::path(::testing::TempDir()) / "fovea_experts";
  save_run(run, path);
  const fovea::Run loaded = load_run(path);
  const ExpertChoice* found = loaded.find_experts(3);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(loaded.find_experts(2), nullptr);
  EXPECT_EQ(found->experts, 5);
  EXPECT_EQ(chosen_of(*found), (std::vector<int64_t>{4, 0, 1, 2}));
  EXPECT_EQ(found->shares.values<float>()[3], 0.5F);
}

TEST(ExpertChoice, RefusesWhatNoRouterGives) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "layer 3 took expert 5 but has 5", [] {
    validate(choice_of({5, 0}, {0.6F, 0.4F}));
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no finite number", [] {
    validate(choice_of({1, 0}, {0.6F, std::nanf("")}));
  }));
  ExpertChoice uneven = choice_of({1, 0}, {0.6F, 0.4F});
  uneven.shares = Tensor({2, 2});
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "[1, 2] with shares", [&] { validate(uneven); }));
}

}  // namespace
}  // namespace fovea
