#include <algorithm>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/capture/run_file.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/show.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

void run_capture(const Args& args) {
  const GivenInput given = given_input(args);
  const std::string& path = args["out"];
  if (lower_suffix(path) != ".safetensors") {
    fail(ErrorKind::kInvalidArgument,
         "--out is '{}' but a run is kept as .safetensors; call it RUN.fovea.safetensors", path);
  }
  check_outputs(args);
  RecorderOptions record;
  if (args.has("memory")) {
    constexpr int64_t kEnough = 1'000'000'000;  // more megabytes than any machine has
    record.in_memory = std::min(args.integer("memory"), kEnough) * 1'000'000;
  }
  const Session session = open_session(args, given, default_model_for(given),
                                       /*question=*/{}, record);
  const std::shared_ptr<const FinishedRun> run = session.run();
  const RunResult& result = run->result();
  print_warnings(result.warnings);
  {
    const InterruptGuard guard;
    save_run(result.run, path);
  }
  // A picture's positions are its patches, with the tokens in front of them.
  const int64_t positions = result.inputs.tokens() > 0 ? result.inputs.tokens()
                                                       : result.run.records.front()->shape().cols;
  std::error_code ignored;
  const uint64_t bytes = std::filesystem::file_size(path, ignored);
  if (args.flag("json")) {
    Json json = Json::object({{"out", path},
                              {"bytes", static_cast<int64_t>(bytes)},
                              {"tokens", positions},
                              {"sites", result.run.records.size()}});
    write_stdout(with_peak_memory(std::move(json)).dump() + "\n");
  } else {
    write_stdout(fmt::format("wrote {}: {} tokens, {} sites, {}; `fovea open {}` shows it\n",
                             printable(path), positions, result.run.records.size(),
                             format_bytes(bytes), printable(path)));
  }
}

}  // namespace

Command capture_command() {
  return {.name = "capture",
          .summary = "run a model and keep every map of it in one small file",
          .details =
              "The file holds queries, keys, values and one number per row of each map, from\n"
              "which `fovea open` computes any part (docs/run-file.md).\n"
              "\n"
              "A model of pictures takes a picture file; a small copy of what it saw is kept too.\n"
              "\n"
              "examples:\n"
              "  fovea capture \"The cat sat.\" --out cat.fovea.safetensors\n"
              "  fovea capture photo.jpg --out photo.fovea.safetensors\n",
          .positionals = {any_input_positional()},
          .options = joined(
              joined(model_options(kDefaultTextModel),
                     joined(input_options(), input_field_options({"size"}))),
              {Option::text("out", "RUN.fovea.safetensors", "where to write").must_be_given(),
               Option::integer("memory", "MB",
                               "keep at most so much of the run in memory and the rest in a "
                               "temporary file (below $TMPDIR); half of what is free when left out",
                               0),
               Option::flag("json", "print what was written as JSON")}),
          .run = run_capture};
}

}  // namespace fovea
