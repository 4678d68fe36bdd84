#include "fovea/cli/align/files.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "fovea/ask/alignment.h"
#include "fovea/ask/places.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/cli/align/ranking.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/parallel_text.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/translator.h"
#include "fovea/explain/alignment/symmetrize.h"

namespace fovea {
namespace {

constexpr int64_t kRankedPairs = 100;
constexpr Symmetrization kDefaultSymmetrization = Symmetrization::kLiltGrowDiag;

void print_note(const std::string& text) {
  std::fprintf(stderr, "fovea: %s\n", printable(text).c_str());
}

void check_align_files(const Args& args) {
  if (args.has("hyp") || args.has("hyp-order")) {
    fail(ErrorKind::kInvalidArgument,
         "--hyp is a file of links to score; did you mean `fovea align evaluate`?");
  }
  if (args.has("symmetrize")) parse_symmetrization(args["symmetrize"]);
  if (args.has("symmetrize") && !args.has("reverse-model")) {
    fail(ErrorKind::kInvalidArgument,
         "--symmetrize {} joins the links of two directions but there is one model; give "
         "--reverse-model M2, a model that translates TGT to SRC",
         args["symmetrize"]);
  }
  if (args.flag("ranking") && args.has("reverse-model")) {
    fail(ErrorKind::kInvalidArgument,
         "--ranking is of one model but --reverse-model names a second; rank it by itself with -m "
         "and the files exchanged");
  }
  check_outputs(args);
}

// One model, and the map of it that alignments are read from. A reversed one translates TGT to SRC.
class PairAligner {
 public:
  PairAligner(Translator translator, const ParallelText& text, AlignOptions options, bool reversed)
      : translator_(std::move(translator)), text_(text), options_(options), reversed_(reversed) {}

  // Of the first `most` pairs that are not empty.
  std::vector<HeadStatistics> rank(int64_t most, bool norms,
                                   const std::vector<GoldAlignment>& gold = {});
  // Does nothing if every pair is empty.
  void choose(int64_t most) {
    const std::vector<HeadStatistics> statistics = rank(most, false);
    if (!statistics.empty()) choice_ = choose_map(statistics, options_);
  }
  // Source-target links, whichever way the model translates. choose() comes before.
  Alignment links(const SentencePair& pair) {
    const Alignment links = align_pair(maps(pair, options_.norms), *choice_, options_).links;
    return reversed_ ? transposed(links) : links;
  }

  const std::optional<MapChoice>& choice() const { return choice_; }
  const std::string& model() const { return translator_.engine().name(); }
  void print_warnings() const;

 private:
  PairMaps maps(const SentencePair& pair, bool norms);
  void keep_warnings(const SentencePair& pair, const std::vector<std::string>& warnings);

  Translator translator_;
  const ParallelText& text_;
  AlignOptions options_;
  bool reversed_;
  std::optional<MapChoice> choice_;
  std::string first_warning_;
  int64_t lines_with_warnings_ = 0;
  int64_t last_line_ = 0;  // that was looked at for warnings
};

PairMaps PairAligner::maps(const SentencePair& pair, bool norms) {
  TranslateOptions how{.words = WordDivision::kSpaces};
  how.target = reversed_ ? pair.source : pair.target;
  RunOptions run;
  run.record = {.values = norms, .block = norms, .wanted = [](SiteId site) {
                  return site.kind == SiteKind::kCross;
                }};
  try {
    Translation translation =
        translator_.translate(reversed_ ? pair.target : pair.source, how, run);
    keep_warnings(pair, translation.result.warnings);
    return pair_maps(translation.result.run, translation.prefix, std::move(translation.anchors));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInvalidArgument) throw;
    fail(ErrorKind::kBadFile, "{}: {}; shorten or empty that line in both files", text_.where(pair),
         error.what());
  }
}

void PairAligner::keep_warnings(const SentencePair& pair,
                                const std::vector<std::string>& warnings) {
  const bool is_new = pair.line > last_line_;
  last_line_ = std::max(last_line_, pair.line);
  if (!is_new || warnings.empty()) return;
  if (lines_with_warnings_++ == 0) {
    first_warning_ = fmt::format("{}: {}", text_.where(pair), warnings.front());
  }
}

void PairAligner::print_warnings() const {
  if (lines_with_warnings_ == 0) return;
  fovea::print_warnings({lines_with_warnings_ == 1
                             ? first_warning_
                             : fmt::format("{} (and {} more lines with notes)", first_warning_,
                                           lines_with_warnings_ - 1)});
}

std::vector<HeadStatistics> PairAligner::rank(int64_t most, bool norms,
                                              const std::vector<GoldAlignment>& gold) {
  HeadRanking ranking({.convention = options_.convention, .links = options_.links});
  Progress progress("choosing the map", std::min(most, text_.pairs()));
  text_.for_each([&](const SentencePair& pair) {
    if (!pair.empty()) {
      ranking.add(maps(pair, norms),
                  gold.empty() ? nullptr : &gold[static_cast<size_t>(pair.line - 1)]);
      progress.advance();
    }
    return ranking.sentences() < most;
  });
  return ranking.statistics();
}

// A whole file, by one model or by one for each direction.
struct AlignJob {
  const ParallelText& text;
  std::vector<GoldAlignment> gold;
  PairAligner forward;
  std::optional<PairAligner> backward;
  Symmetrization symmetrization = kDefaultSymmetrization;
  AlignmentScore score;
  int64_t links = 0;

  Alignment align(const SentencePair& pair);
  // Every pair's links to `take`, in order.
  void run(bool shows_progress, const std::function<void(const Alignment&)>& take);
};

Alignment AlignJob::align(const SentencePair& pair) {
  if (pair.empty()) return {};
  const Alignment found = forward.links(pair);
  return backward ? symmetrize(found, backward->links(pair), symmetrization) : found;
}

void AlignJob::run(bool shows_progress, const std::function<void(const Alignment&)>& take) {
  std::optional<Progress> progress;
  if (shows_progress) progress.emplace("aligning", text.pairs());
  text.for_each([&](const SentencePair& pair) {
    check_cancelled();
    const Alignment found = align(pair);
    links += static_cast<int64_t>(found.size());
    if (!gold.empty()) score.add(gold[static_cast<size_t>(pair.line - 1)], found);
    take(found);
    if (progress) progress->advance();
    return true;
  });
}

std::vector<GoldAlignment> read_gold(const Args& args, const ParallelText& text) {
  if (!args.has("gold")) return {};
  std::vector<GoldAlignment> gold =
      read_gold_alignments(args["gold"], {.base = args.integer("gold-base")});
  if (static_cast<int64_t>(gold.size()) != text.pairs()) {
    fail(ErrorKind::kBadFile, "{} has {} lines but {} has {}; both need one line per sentence",
         args["gold"], gold.size(), args["SRC"], text.pairs());
  }
  return gold;
}

void report_choice(const PairAligner& aligner, std::string_view direction) {
  if (!aligner.choice()) return;
  const MapChoice& choice = *aligner.choice();
  print_note(fmt::format("{}: {}links come from {}{}", aligner.model(), direction,
                         to_string(choice),
                         choice.why.empty() ? std::string() : "; " + choice.why));
}

void write_text(const Args& args, const std::string& text) {
  if (!args.has("out")) return write_stdout(text);
  const InterruptGuard guard;
  write_file_atomic(args["out"], [&](FileWriter& file) { file.write(text); });
}

void write_moses(AlignJob& job, const Args& args) {
  if (!args.has("out")) {
    // A terminal shows how far it is by the lines themselves.
    job.run(::isatty(STDOUT_FILENO) != 1,
            [](const Alignment& links) { write_stdout(to_moses(links) + "\n"); });
    return;
  }
  const InterruptGuard guard;  // so that no temporary file stays behind
  write_file_atomic(args["out"], [&](FileWriter& file) {
    job.run(true, [&](const Alignment& links) { file.write(to_moses(links) + "\n"); });
  });
}

Json choice_json(const std::optional<MapChoice>& choice) {
  return choice ? to_json(*choice) : Json();
}

void write_links_json(AlignJob& job, const Args& args) {
  Json alignments = Json::array();
  if (args.has("out")) {
    write_moses(job, args);
  } else {
    job.run(true, [&](const Alignment& links) { alignments.push_back(to_moses(links)); });
  }
  Json json =
      Json::object({{"model", job.forward.model()}, {"map", choice_json(job.forward.choice())}});
  if (job.backward) {
    json.set("reverse_model", job.backward->model());
    json.set("reverse_map", choice_json(job.backward->choice()));
    json.set("symmetrization", to_string(job.symmetrization));
  }
  json.set("pairs", job.text.pairs());
  json.set("links", job.links);
  if (!job.gold.empty()) {
    json.set("aer", job.score.aer());
    json.set("precision", job.score.precision());
    json.set("recall", job.score.recall());
  }
  if (args.has("out")) {
    json.set("out", args["out"]);
  } else {
    json.set("alignments", std::move(alignments));
  }
  write_stdout(json.dump() + "\n");
}

void run_ranking(PairAligner& aligner, const Args& args, const AlignOptions& options,
                 const std::vector<GoldAlignment>& gold, int64_t pairs) {
  std::vector<HeadStatistics> statistics = aligner.rank(
      args.has("rank") ? args.integer("rank") : std::max<int64_t>(pairs, 1), true, gold);
  aligner.print_warnings();
  if (statistics.empty()) {
    fail(ErrorKind::kBadFile, "{} and {} have no pair with words on both sides to rank maps by",
         args["SRC"], args["TGT"]);
  }
  const RankedMaps ranked = rank_maps(std::move(statistics), options);
  write_text(args, args.flag("json") ? ranking_json(ranked).dump() + "\n" : ranking_text(ranked));
}

Translator open_reverse(const Args& args, const Languages& languages) {
  return Translator(Engine::open(args["reverse-model"], engine_options(args)),
                    {.source = languages.target, .target = languages.source});
}

}  // namespace

std::vector<Option> align_files_options() {
  const std::vector<Option> own = {
      Option::text("from", "CODE", "language of SRC, of models that know several"),
      Option::text("to", "CODE", "language of TGT, of models that know several"),
      Option::text("reverse-model", "NAME",
                   "a model that translates TGT to SRC: both directions are aligned and joined"),
      Option::text(
          "symmetrize", "NAME",
          fmt::format("how the two directions are joined: {} (default: {})",
                      fmt::join(symmetrization_names(), ", "), to_string(kDefaultSymmetrization)))
          .suggesting(symmetrization_names()),
  };
  const std::vector<Option> more = {
      Option::integer("rank", "N",
                      fmt::format("choose the map by the first N pairs (default: {}; all for "
                                  "--ranking)",
                                  kRankedPairs),
                      1),
      Option::flag("ranking", "print the statistics of every layer and head instead of links"),
      Option::text("out", "FILE", "write there instead"),
  };
  return joined(joined(model_options(kDefaultTranslationModel), own),
                joined(options_of(align_fields()), more));
}

void run_align_files(const Args& args) {
  check_align_files(args);
  const Question question =
      typed_question(args, "translate", RunSort::kText, Json::object({{"kind", "align"}}));
  const AlignOptions options = align_options(question);
  const ParallelText text(args["SRC"], args["TGT"]);
  std::vector<GoldAlignment> gold = read_gold(args, text);
  const Languages languages{.source = args.has("from") ? args["from"] : "",
                            .target = args.has("to") ? args["to"] : ""};
  const Translator translator(open_engine(args, kDefaultTranslationModel), languages);
  check_place(question, translator.engine());
  PairAligner forward(translator, text, options, false);
  if (args.flag("ranking")) return run_ranking(forward, args, options, gold, text.pairs());
  AlignJob job{.text = text, .gold = std::move(gold), .forward = std::move(forward)};
  const int64_t ranked = args.has("rank") ? args.integer("rank") : kRankedPairs;
  job.forward.choose(ranked);
  report_choice(job.forward, "");
  if (args.has("reverse-model")) {
    // Which map is the user's choice of the first model only: the second has others.
    AlignOptions own = options;
    own.layer.reset();
    own.head.reset();
    own.reading.reset();
    own.mean = false;
    job.backward.emplace(open_reverse(args, languages), text, own, true);
    if (args.has("symmetrize")) job.symmetrization = parse_symmetrization(args["symmetrize"]);
    job.backward->choose(ranked);
    report_choice(*job.backward, "reverse ");
    print_note(fmt::format("both directions are joined by {}", to_string(job.symmetrization)));
  }
  args.flag("json") ? write_links_json(job, args) : write_moses(job, args);
  job.forward.print_warnings();
  if (job.backward) job.backward->print_warnings();
  if (job.gold.empty()) return;
  print_note(fmt::format("AER {:.1f} %, precision {:.1f} %, recall {:.1f} % on {} pairs",
                         100 * job.score.aer(), 100 * job.score.precision(),
                         100 * job.score.recall(), job.score.sentences));
}

}  // namespace fovea
