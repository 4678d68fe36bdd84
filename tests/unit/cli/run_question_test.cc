// A captured run that holds the blocks around its attention: methods answer from it as with the
// model.
#include <gtest/gtest.h>

#include "fovea/capture/run_file.h"
#include "fovea/cli/explain/question.h"
#include "fovea/cli/parse.h"
#include "support/fixture_models.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

Args explain_args(const std::vector<std::string>& arguments) {
  for (const Command& command : all_commands()) {
    if (command.name == "explain") return parse_command(command, arguments).args;
  }
  throw std::runtime_error("no such verb");
}

TEST(RunQuestion, IsAnsweredFromTheBlocksOfTheRun) {
  const std::vector<std::pair<std::string, std::string>> all{{"bert_sequence", "value-norm"},
                                                             {"bert_sequence", "alti"},
                                                             {"gpt2_lm", "alti"},
                                                             {"marian_mt", "value-norm"},
                                                             {"marian_mt", "alti+"}};
  for (const auto& [fixture, method] : all) {
    SCOPED_TRACE(fixture + " " + method);
    const std::string model = parity_folder(fixture).string();
    const Args asked =
        explain_args({"--inputs", model + "/inputs.safetensors", "--method", method});
    const ExplainQuestion of_model =
        read_question(given_input(asked), asked, Engine::open(model), method_named(method));
    const TempFolder folder;
    const std::string path = (folder / "run.fovea.safetensors").string();
    save_run(of_model.result.run, path);
    const Args captured = explain_args({path, "--method", method});
    const ExplainQuestion of_run =
        read_run_question(given_input(captured, InputKinds::kRuns), captured);
    EXPECT_FALSE(of_run.engine);
    EXPECT_EQ(of_run.position_name, of_model.position_name);
    EXPECT_EQ(answer(of_run).scores, answer(of_model).scores);
    EXPECT_EQ(answer(of_run).target_scores, answer(of_model).target_scores);
  }
}

// What a library's user may keep: steps of a text that goes on, which are of no target.
TEST(RunQuestion, StepsWithoutATargetAreNamedByWhatIsReadThere) {
  const Engine engine = Engine::open(parity_folder("gpt2_lm").string());
  const RunResult written =
      engine.generate(engine.label({.input_ids = {1, 2, 3}}), {.most_tokens = 3});
  const TempFolder folder;
  const std::string path = (folder / "run.fovea.safetensors").string();
  save_run(written.run, path);
  const Args captured = explain_args({path, "--method", "raw"});
  const ExplainQuestion question =
      read_run_question(given_input(captured, InputKinds::kRuns), captured);
  EXPECT_TRUE(question.position_name.starts_with("seen from ")) << question.position_name;
  EXPECT_FALSE(answer(question).scores.empty());
}

}  // namespace
}  // namespace fovea
