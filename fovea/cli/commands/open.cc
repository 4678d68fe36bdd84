#include "fovea/capture/run_file.h"
#include "fovea/cli/ask_options.h"

namespace fovea {
namespace {

void run_open(const Args& args) {
  check_answer_options(args);
  const Session session = Session::of(load_run(args["RUN"]));
  const Question question = typed_question(args, "open", session.run()->sort());
  check_outputs_of(question, args);
  show(session, question, args);
}

}  // namespace

Command open_command() {
  return {.name = "open",
          .summary = "show the maps of a captured run",
          .details =
              "Without options: what the run is, and all heads of its last layer. A run that was\n"
              "captured from a picture file is shown over its picture; --view and --site show\n"
              "the same maps as matrices.\n\n" +
              question_summaries("open") +
              "\n"
              "examples:\n"
              "  fovea open run.fovea.safetensors\n"
              "  fovea open run.fovea.safetensors --layer 3 --head 7\n"
              "  fovea open run.fovea.safetensors --token cat --column\n"
              "  fovea open photo.fovea.safetensors --token \"patch 3,7\"\n"
              "  fovea open run.fovea.safetensors --layer all --out heads.png\n"
              "  fovea open run.fovea.safetensors --head mean --words --out weights.csv\n",
          .positionals = {{.name = "RUN", .help = "the file, RUN.fovea.safetensors"}},
          .options = joined(question_options("open"), answer_options()),
          .run = run_open};
}

}  // namespace fovea
