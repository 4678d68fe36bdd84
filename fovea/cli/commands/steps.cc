#include "fovea/base/file.h"
#include "fovea/cli/command.h"
#include "fovea/cli/steps_json.h"
#include "fovea/cli/steps_out.h"
#include "fovea/cli/steps_text.h"

namespace fovea {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;

void run(const Args& args) {
  StepsSettings settings;
  if (args.has("similarity")) settings.similarity = args["similarity"];
  if (args.has("temperature")) settings.temperature = args.real("temperature");
  StepsChoice choice{.column = args.flag("column")};
  if (args.has("token")) choice.token = args["token"];
  if (args.has("at")) choice.at = args["at"];
  if (args.has("head")) choice.head = args.integer("head");
  if (args.has("out")) check_steps_suffix(args["out"]);

  const std::string& file = args["vectors"];
  const StepsProblem problem = parse_steps(read_text_file(file, kLargestFile), file, settings);
  const StepsView view = choose_view(problem, choice);
  const StepsResult result = compute_steps(problem);
  if (args.has("out")) write_steps(args["out"], problem, result, view);
  if (args.flag("json")) {
    write_stdout(steps_json(problem, result, view).dump(1) + "\n");
  } else if (args.has("out")) {
    write_stdout("wrote " + args["out"] + "\n");
  } else {
    write_stdout(steps_text(problem, result, view, stdout_terminal()));
  }
}

}  // namespace

Command steps_command() {
  return {.name = "steps",
          .summary = "attention step by step with the real numbers: Q, K, V, scores, softmax, sum",
          .details =
              "FILE.json holds one of\n"
              "  inputs   a list of vectors, and source, another list, for cross-attention\n"
              "  image    {height, width, pixels}, one vector per pixel\n"
              "  memory   {keys, values}, read by query or queries, hard and soft\n"
              "and may hold title, labels, source_labels, heads, scale, mask (\"causal\" or rows\n"
              "of 0 and 1), Wq Wk Wv Wo (one row per number that comes in; left out: identity),\n"
              "bq bk bv bo, and for additive similarity Wa_q Wa_k v.\n"
              "\n"
              "Vectors are rows: q = x Wq. Rows of weights are queries, columns are keys.\n"
              "\n"
              "examples:\n"
              "  fovea steps --vectors examples/four_words.json\n"
              "  fovea steps --vectors examples/four_words.json --token sleep --head 1\n"
              "  fovea steps --vectors examples/memory.json --temperature 0.5\n"
              "  fovea steps --vectors examples/picture.json --at 7,1 --out weights.png\n",
          .options =
              {Option::text("vectors", "FILE.json", "the vectors, see below").must_be_given(),
               Option::choice("similarity", similarity_names(),
                              "how a query is compared with a key, scaled unless it is a memory "
                              "(dot)"),
               Option::real("temperature", "T",
                            "divides the scores before softmax; 0 takes the best key only "
                            "(default: 1)",
                            0),
               Option::text("token", "LABEL|i", "only this query, by its label or number from 0"),
               Option::flag("column",
                            "with --token or --at: who attends to it, not what it attends to"),
               Option::integer("head", "N", "only this head, from 0 (default: all)", 0),
               Option::text("at", "X,Y", "the pixel of an image: column, row (default: centre)"),
               Option::flag("json", "print every number as JSON"),
               Option::text("out", "FILE", "write a file instead: .json, .npz or .png (weights)")},
          .run = run};
}

}  // namespace fovea
