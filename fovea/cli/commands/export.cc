#include <algorithm>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/show.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/dense_file.h"

namespace fovea {
namespace {

constexpr uint64_t kLargestExport = 10'000'000'000;

std::string facts_line(const RunResult& result, uint64_t bytes) {
  const AttentionShape shape = result.run.records.front()->shape();
  return fmt::format("{} maps of {} heads, {} x {}, and the outputs: {}\n",
                     result.run.records.size(), shape.heads, shape.rows, shape.cols,
                     format_bytes(bytes));
}

// The size of the first stack's maps alone, which the input tells before the model runs.
uint64_t least_bytes(const ModelFacts& facts, const EncodedInput& input) {
  const bool picture = !input.patches.positions.empty();
  const StackFacts& stack = picture ? facts.main : facts.text_stack();
  const auto maps = static_cast<double>(stack.layers * stack.heads);
  const auto positions = static_cast<double>(
      picture ? static_cast<int64_t>(input.patches.positions.size()) : input.inputs.tokens());
  constexpr double kEnough = 1e18;
  return static_cast<uint64_t>(std::min(maps * positions * positions * sizeof(float), kEnough));
}

void refuse_large(uint64_t bytes, std::string_view at_least, const Args& args) {
  if (bytes <= kLargestExport || args.flag("force")) return;
  fail(ErrorKind::kInvalidArgument,
       "these are {}{} and above {} are refused; `fovea capture` keeps the same maps in far less, "
       "or use --force",
       at_least, format_bytes(bytes), format_bytes(kLargestExport));
}

void run_export(const Args& args) {
  const GivenInput given = given_input(args);
  const std::filesystem::path path = args["out"];
  if (lower_suffix(path) != ".safetensors") {
    fail(ErrorKind::kInvalidArgument,
         "--out is '{}' but export writes .safetensors; give a name that ends so", path.string());
  }
  check_outputs(args);
  const Session session = open_session(args, given, default_model_for(given));
  const OpenedInput& opened = *session.opened();
  refuse_large(least_bytes(opened.engine.facts(), opened.encoded), "at least ", args);
  const std::shared_ptr<const FinishedRun> run = session.run({.all_logits = true});
  const RunResult& result = run->result();
  print_warnings(result.warnings);
  const uint64_t bytes = dense_bytes(result);
  if (!args.flag("json")) write_stdout(facts_line(result, bytes));
  refuse_large(bytes, "", args);
  const InterruptGuard guard;
  write_dense(result, path);
  if (args.flag("json")) {
    Json json = Json::object({{"out", path.string()}, {"bytes", static_cast<int64_t>(bytes)}});
    Json names = Json::array();
    for (const auto& record : result.run.records) names.push_back(to_string(record->site));
    json.set("maps", std::move(names));
    write_stdout(with_peak_memory(std::move(json)).dump() + "\n");
  } else {
    write_stdout(wrote_line(path));
  }
}

}  // namespace

Command export_command() {
  return {
      .name = "export",
      .summary = "every map and output of a model as dense tensors in one file",
      .details =
          "The file holds float32 self.0, self.1, ... as [heads, rows, columns], and\n"
          "last_hidden_state and logits where the model has them; of translation models\n"
          "encoder_self.N, decoder_self.N, cross.N and encoder_last_hidden_state; of a picture\n"
          "and a text tower vision.self.N, text.self.N and their embeddings.\n"
          "`fovea capture` keeps the same maps without their matrices.\n"
          "\n"
          "examples:\n"
          "  fovea export \"The cat sat.\" --out maps.safetensors\n"
          "  fovea export photo.jpg --out maps.safetensors\n"
          "  fovea export -m FOLDER --inputs ids.safetensors --out maps.safetensors\n",
      .positionals = {any_input_positional()},
      .options = joined(joined(model_options(kDefaultTextModel),
                               joined(input_options(), input_field_options({"size"}))),
                        {Option::text("out", "FILE.safetensors", "where to write").must_be_given(),
                         Option::flag("force", "write even more than 10 GB"),
                         Option::flag("json", "print what was written as JSON")}),
      .run = run_export};
}

}  // namespace fovea
