#include "fovea/capture/run_file.h"
#include "fovea/cli/command.h"
#include "fovea/cli/map_options.h"

namespace fovea {
namespace {

void run(const Args& args) {
  check_map_args(args);
  show_run(load_run(args["RUN"]), args);
}

}  // namespace

Command open_command() {
  return {.name = "open",
          .summary = "show the maps of a captured run",
          .details =
              "Without options: what the run is, and all heads of its last layer.\n"
              "\n"
              "examples:\n"
              "  fovea open run.fovea.safetensors\n"
              "  fovea open run.fovea.safetensors --layer 3 --head 7\n"
              "  fovea open run.fovea.safetensors --token cat --column\n"
              "  fovea open run.fovea.safetensors --layer all --out heads.png\n"
              "  fovea open run.fovea.safetensors --head mean --words --out weights.csv\n",
          .positionals = {{.name = "RUN", .help = "the file, RUN.fovea.safetensors"}},
          .options = map_options(),
          .run = run};
}

}  // namespace fovea
