// An engine that many callers use, from many threads and from a child of the process. Built with
// FOVEA_DELIBERATE_RACE it has a race, which ThreadSanitizer must find (tools/run_tests.py).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "fovea/base/team.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/input_file.h"
#include "support/data.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

#ifdef FOVEA_DELIBERATE_RACE
int answers_of_all = 0;
#else
std::atomic<int> answers_of_all = 0;
#endif

struct AskedEngine {
  explicit AskedEngine(const char* name)
      : engine(Engine::open(parity_folder(name).string())),
        inputs(read_inputs(parity_folder(name) / "inputs.safetensors")) {}

  // The last layer's first map and the logits, one after the other.
  std::vector<float> answer() const {
    const RunResult result = engine.run(inputs, {.logits = LogitRows::kAll});
    const SiteId last = result.run.records.back()->site;
    const AttentionMap map = result.map(last, 0);
    const Tensor weights = map.tile(map.whole());
    std::vector<float> all(weights.values<float>().begin(), weights.values<float>().end());
    const std::span<const float> logits = result.outputs.logits.tensor.values<float>();
    all.insert(all.end(), logits.begin(), logits.end());
    return all;
  }

  Engine engine;
  ModelInputs inputs;
};

bool agree(const std::vector<float>& one, const std::vector<float>& other) {
  return std::ranges::equal(one, other, [](float a, float b) { return std::abs(a - b) <= 1e-5f; });
}

class EngineThreads : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = thread_count();
};

TEST_P(EngineThreads, TenCallersOfTwoEnginesGetTheirAnswers) {
  const std::vector<AskedEngine> asked{AskedEngine("bert_masked_lm"), AskedEngine("vit_image")};
  const std::vector<std::vector<float>> expected{asked[0].answer(), asked[1].answer()};
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < 10; ++caller) {
    callers.emplace_back([&, which = caller % 2] {
      for (int turn = 0; turn < 5; ++turn) {
        EXPECT_TRUE(agree(asked[which].answer(), expected[which]));
        ++answers_of_all;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_P(EngineThreads, AChildAnswersAfterItsParentDid) {
  const AskedEngine asked("bert_masked_lm");
  const std::vector<float> expected = asked.answer();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(agree(asked.answer(), expected) ? 0 : 1);
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(agree(asked.answer(), expected));
}

INSTANTIATE_TEST_SUITE_P(OnOneOrTwo, EngineThreads, ::testing::Values(1, 2));

}  // namespace
}  // namespace fovea
