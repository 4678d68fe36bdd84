#include "fovea/base/error.h"
#include "fovea/cli/align/evaluate.h"
#include "fovea/cli/align/files.h"
#include "fovea/cli/command.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

// What every one of the other use's options is for: links are made from files, or scored.
void check_evaluate(const Args& args) {
  if (args.has("TGT")) {
    fail(ErrorKind::kInvalidArgument,
         "align evaluate takes no plain argument '{}'; name files by --gold and --hyp",
         args["TGT"]);
  }
  for (const Option& option : align_files_options()) {
    if (option.default_value.empty() && args.has(option.name)) {
      fail(ErrorKind::kInvalidArgument,
           "--{} is for aligning files but align evaluate scores links that are there; leave one "
           "of them out",
           option.name);
    }
  }
}

void run_align(const Args& args) {
  if (args.has("SRC") && args["SRC"] == "evaluate") {
    check_evaluate(args);
    return run_align_evaluate(args);
  }
  if (!args.has("TGT")) {
    fail(ErrorKind::kInvalidArgument,
         "align needs two files, SRC and TGT, or `evaluate`; see `fovea align --help`");
  }
  run_align_files(args);
}

}  // namespace

Command align_command() {
  return {.name = "align",
          .summary = "word alignment of parallel files; the score of alignments against gold links",
          .details =
              "The model is made to write each line of TGT for its line of SRC; a map of its\n"
              "cross-attention gives the links. Which map is chosen once, by the first pairs,\n"
              "and told on stderr (docs/alignment.md). Words are what spaces part. A line of\n"
              "links i-j is written for each pair, source word and target word from 0; pairs\n"
              "with an empty side have none.\n"
              "\n"
              "`fovea align evaluate` prints the alignment error rate (AER), precision and\n"
              "recall of --hyp against --gold. Both files have a line per sentence: links i-j\n"
              "from source word i to target word j with spaces between them, in gold also ipj\n"
              "for links that may be there but need not. Gold counts words from 1 and --hyp\n"
              "from 0, unless told.\n"
              "\n"
              "examples:\n"
              "  fovea align english.txt french.txt --out links.txt\n"
              "  fovea align english.txt french.txt --layer 2 --head mean --read output\n"
              "  fovea align english.txt french.txt --gold enfr.gold --ranking\n"
              "  fovea align english.txt french.txt --reverse-model FOLDER\n"
              "  fovea align evaluate --gold enfr.gold --hyp enfr.giza.talp\n",
          .positionals = {{.name = "SRC",
                           .help = "source sentences, one per line; or `evaluate`",
                           .required = false,
                           .suggestions = {"evaluate"}},
                          {.name = "TGT", .help = "their translations", .required = false}},
          .options = joined(
              joined(align_files_options(), align_evaluate_options()),
              {Option::flag("json",
                            "print one line of JSON: of links with the map and why it was chosen; "
                            "of evaluate {\"aer\",\"precision\",\"recall\"}, as fractions")}),
          .run = run_align};
}

}  // namespace fovea
