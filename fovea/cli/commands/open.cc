#include "fovea/cli/ask_options.h"
#include "fovea/cli/run_input.h"

namespace fovea {
namespace {

void run_open(const Args& args) {
  check_answer_options(args);
  const Session session = open_run_file(args["RUN"], args);
  const Question question = typed_question(args, "open", session.run()->sort());
  check_outputs_of(question, args);
  show(session, question, args);
}

}  // namespace

Command open_command() {
  return {.name = "open",
          .summary = "show the maps of a captured run, or of an array of weights",
          .details =
              "Without options: what the run is, and all heads of its last layer. A run that was\n"
              "captured from a picture file is shown over its picture; --view and --site show\n"
              "the same maps as matrices.\n\n"
              "Weights that another program saved are a run too: a .npy, .npz or .safetensors\n"
              "of [rows, columns], [heads, rows, columns] or [layers, heads, rows, columns].\n"
              "What needs queries, keys or values says so; rows that do not sum to 1 are\n"
              "counted.\n\n" +
              question_summaries("open") +
              "\n"
              "examples:\n"
              "  fovea open run.fovea.safetensors\n"
              "  fovea open run.fovea.safetensors --layer 3 --head 7\n"
              "  fovea open run.fovea.safetensors --token cat --column\n"
              "  fovea open photo.fovea.safetensors --token \"patch 3,7\"\n"
              "  fovea open run.fovea.safetensors --layer all --out heads.png\n"
              "  fovea open run.fovea.safetensors --head mean --words --out weights.csv\n"
              "  fovea open attentions.npy --labels tokens.txt --layer 3 --head 7\n",
          .positionals = {{.name = "RUN", .help = "the file, RUN.fovea.safetensors or an array"}},
          .options = joined(question_options("open"), joined(array_options(), answer_options())),
          .run = run_open};
}

}  // namespace fovea
