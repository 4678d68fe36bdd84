#include "fovea/base/error.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

GenerateOptions generate_options(const Args& args) {
  GenerateOptions options{.most_tokens = args.integer("generate")};
  options.sampling = {.temperature = args.has("temperature") ? args.real("temperature") : 0,
                      .top_p = args.has("top-p") ? args.real("top-p") : 1,
                      .seed = args.has("seed") ? static_cast<uint64_t>(args.integer("seed")) : 0};
  validate(options.sampling);
  return options;
}

void check_text_options(const Args& args) {
  check_map_args(args);
  for (const char* name : {"temperature", "top-p", "seed"}) {
    if (args.has(name) && !args.has("generate")) {
      fail(ErrorKind::kInvalidArgument, "--{} is for writing text; give --generate N too", name);
    }
  }
  if (args.has("generate")) generate_options(args);
}

// What the model's facts tell before it runs. --inputs of a model that sees pictures may be a
// picture, a text or both, which only the run tells.
void check_text_choice(const Args& args, const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  if (facts.takes_pixels() && args.has("inputs")) return;
  const SiteKind usual = facts.has_decoder() ? SiteKind::kEncoderSelf
                                             : sites_of(facts, /*sees_picture=*/false).front();
  const SiteKind kind =
      args.has("site") ? chosen_site(args, engine, /*sees_picture=*/false) : usual;
  check_layer(args, engine, kind);
  check_head(args, engine, kind);
}

RunResult generated(const Engine& engine, const GivenInput& given, const Args& args) {
  const EncodedInput input = read_input(engine, given, args);
  const int64_t tokens = input.inputs.tokens(), more = args.integer("generate");
  check_room(engine.facts(), tokens, more);
  print_warnings(engine.length_warnings(tokens + more));
  write_notes();  // now: writing takes its time
  return engine.generate(input, generate_options(args));
}

RunResult read(const Engine& engine, const GivenInput& given, const Args& args) {
  if (engine.facts().has_decoder() || args.has("target") || args.has("from") || args.has("to")) {
    return run_input(engine, given, args);
  }
  const EncodedInput input = read_input(engine, given, args);
  const LogitRows logits = logits_wanted(engine, input);
  return engine.run(input, {.logits = logits});
}

void run_text(const Args& args) {
  const GivenInput given = given_input(args, InputKinds::kTexts);
  check_text_options(args);
  const bool writes = args.has("generate");
  const Engine engine = open_engine(args, writes ? kDefaultCausalModel : kDefaultTextModel);
  check_text_choice(args, engine);
  const RunResult result = writes ? generated(engine, given, args) : read(engine, given, args);
  print_warnings(result.warnings);
  show_run(result.run, args, {}, predictions_text(engine, result, stdout_terminal()));
}

}  // namespace

Command text_command() {
  return {.name = "text",
          .summary = "what each word of a text attends to, in every head of a model",
          .details =
              "Rows of a map are the tokens that look, columns those they look at.\n"
              "\n"
              "examples:\n"
              "  fovea text \"The cat sat on the mat because it was tired.\"\n"
              "  fovea text \"The cat sat on the mat because it was tired.\" --token it\n"
              "  fovea text \"The cat sat on the mat.\" --layer 2 --head 3 --out map.png\n"
              "  fovea text -m gpt2 \"The cat sat on the\" --generate 5 --view matrix\n"
              "  fovea text --text-file page.txt --layer all --out heads.pdf\n",
          .positionals = {input_positional()},
          .options = joined(
              joined(model_options(kDefaultTextModel), input_options()),
              joined({Option::integer("generate", "N",
                                      fmt::format("let a causal model go on for N tokens (default "
                                                  "model: {})",
                                                  kDefaultCausalModel),
                                      1),
                      Option::real("temperature", "T",
                                   "of the choice of words; 0 takes the best (default: 0)", 0),
                      Option::real("top-p", "P",
                                   "choose among the words that make up this probability (default: "
                                   "1)",
                                   0),
                      Option::integer("seed", "N", "of the choice (default: 0)", 0)},
                     map_options())),
          .run = run_text};
}

}  // namespace fovea
