#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/cli/command.h"
#include "fovea/cli/examples.h"
#include "fovea/cli/steps_out.h"
#include "fovea/cli/steps_text.h"

namespace fovea {
namespace {

void run(const Args& args) {
  const Example example = find_example("four_words.json");
  const StepsProblem problem = parse_steps(example.text, "examples/" + example.name);
  const StepsResult result = compute_steps(problem);
  const StepsView view;

  const std::filesystem::path folder = args["out"];
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    fail(ErrorKind::kIo, "{}: this folder cannot be made: {}; choose another with --out",
         folder.string(), error.message());
  }
  const std::filesystem::path picture = folder / "four_words.png";
  write_steps(picture, problem, result, view);

  const Terminal terminal = stdout_terminal();
  write_stdout(steps_text(problem, result, view, terminal));
  write_stdout(
      "\n" + terminal.bold("wrote " + picture.string()) +
      "\nThe softmax weights of both heads as a heatmap on one scale. Next: fovea steps --help\n");
}

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .summary = "the steps of a small example, and its attention weights as a picture",
          .options = {Option::text("out", "DIR", "the folder to write to").with_default("gallery")},
          .run = run};
}

}  // namespace fovea
