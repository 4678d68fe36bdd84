#include <fmt/format.h>

#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/cli/align/files.h"
#include "fovea/cli/command.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/explain/alignment/alignment_score.h"

namespace fovea {
namespace {

constexpr std::string_view kSourceFirst = "source-target";
constexpr std::string_view kTargetFirst = "target-source";

struct EvaluationFiles {
  std::vector<GoldAlignment> gold;
  std::vector<Alignment> found;
  LinkFormat gold_format;
  LinkFormat found_format;
};

EvaluationFiles read_files(const Args& args) {
  for (const std::string_view name : {"gold", "hyp"}) {
    if (!args.has(name)) {
      fail(ErrorKind::kInvalidArgument,
           "align evaluate needs --gold FILE and --hyp FILE but --{} is not given", name);
    }
  }
  const auto base = [&](std::string_view name) { return args.integer(name); };
  EvaluationFiles files;
  files.gold_format = {.base = base("gold-base")};
  files.found_format = {.base = base("hyp-base"),
                        .reversed = args.has("hyp-order") && args["hyp-order"] == kTargetFirst};
  files.gold = read_gold_alignments(args["gold"], files.gold_format);
  files.found = read_alignments(args["hyp"], files.found_format);
  if (files.gold.size() != files.found.size()) {
    fail(ErrorKind::kBadFile, "{} has {} lines but {} has {}; both need one line per sentence",
         args["gold"], files.gold.size(), args["hyp"], files.found.size());
  }
  if (files.gold.empty()) {
    fail(ErrorKind::kBadFile, "{} and {} are empty; there is no sentence to score", args["gold"],
         args["hyp"]);
  }
  return files;
}

// What AER would be if every hypothesis were changed so.
template <typename Change>
double changed_aer(const EvaluationFiles& files, const Change& change) {
  AlignmentScore score;
  for (size_t i = 0; i < files.gold.size(); ++i) score.add(files.gold[i], change(files.found[i]));
  return score.aer();
}

Alignment shifted(Alignment links, int64_t by) {
  for (Link& link : links) link = {link.source + by, link.target + by};
  return links;
}

// A file that is read the wrong way scores badly, and much better the other way: say so.
std::vector<std::string> reading_notes(const EvaluationFiles& files, double aer) {
  std::vector<std::string> notes;
  const auto compare = [&](double other, std::string_view hint) {
    if (other < aer / 2) {
      notes.push_back(
          fmt::format("with {} AER would be {:.1f} % instead of {:.1f} %; is that how the file "
                      "counts?",
                      hint, 100 * other, 100 * aer));
    }
  };
  compare(changed_aer(files, transposed),
          fmt::format("--hyp-order {}", files.found_format.reversed ? kSourceFirst : kTargetFirst));
  const bool one_based_found = files.found_format.base == 1;
  const bool one_based_gold = files.gold_format.base == 1;
  if (!one_based_found || one_based_gold) {
    compare(changed_aer(files, [](const Alignment& links) { return shifted(links, -1); }),
            one_based_found ? "--gold-base 0" : "--hyp-base 1");
  }
  if (one_based_found || !one_based_gold) {
    compare(changed_aer(files, [](const Alignment& links) { return shifted(links, 1); }),
            one_based_found ? "--hyp-base 0" : "--gold-base 1");
  }
  return notes;
}

// A file does not say which word of a link comes first. Aligners of the opposite direction write
// the target's, and then the links fit the gold ones only that way: not by chance, if there are
// many.
std::vector<std::string> turn_if_reversed(EvaluationFiles& files) {
  constexpr int64_t kManyLinks = 100;
  const AlignmentScore score = score_alignments(files.gold, files.found);
  const double aer = score.aer();
  const double turned = changed_aer(files, transposed);
  if (score.links < kManyLinks || !(turned < aer / 2)) return {};
  for (Alignment& links : files.found) links = transposed(links);
  files.found_format.reversed = true;
  return {
      fmt::format("read as {} links, by which AER is {:.1f} % and not {:.1f} %; --hyp-order says "
                  "it for certain",
                  kTargetFirst, 100 * turned, 100 * aer)};
}

std::string score_text(const AlignmentScore& score) {
  return fmt::format(
      "AER        {:5.1f} %   {} sentences, {} links, {} sure links in gold\n"
      "precision  {:5.1f} %\n"
      "recall     {:5.1f} %\n",
      100 * score.aer(), score.sentences, score.links, score.sure, 100 * score.precision(),
      100 * score.recall());
}

std::vector<Option> align_evaluate_options() {
  return {
      Option::text("gold", "FILE", "gold links, i-j sure and ipj possible, to score by"),
      Option::text("hyp", "FILE", "evaluate: the links to score, i-j"),
      Option::choice("gold-base", {"0", "1"}, "the number of the first word in --gold")
          .with_default("1"),
      Option::choice("hyp-base", {"0", "1"}, "evaluate: the number of the first word in --hyp")
          .with_default("0"),
      Option::choice("hyp-order", {std::string(kSourceFirst), std::string(kTargetFirst)},
                     "evaluate: which word of a link --hyp writes first; aligners of the opposite "
                     "direction write the target's (default: the one that fits far better)"),
  };
}

void run_align_evaluate(const Args& args) {
  EvaluationFiles files = read_files(args);
  if (!args.has("hyp-order")) print_warnings(turn_if_reversed(files));
  const AlignmentScore score = score_alignments(files.gold, files.found);
  print_warnings(reading_notes(files, score.aer()));
  if (!args.flag("json")) return write_stdout(score_text(score));
  Json json = Json::object(
      {{"aer", score.aer()}, {"precision", score.precision()}, {"recall", score.recall()}});
  write_stdout(json.dump() + "\n");
}

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
                            "print one line of JSON: for links the map and why it was chosen; for "
                            "evaluate {\"aer\",\"precision\",\"recall\"}, as fractions")}),
          .run = run_align};
}

}  // namespace fovea
