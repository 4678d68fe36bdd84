#include "fovea/cli/align/files.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <optional>

#include "fovea/ask/ask_all.h"
#include "fovea/ask/many/pair_aligner.h"
#include "fovea/ask/places.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/align/ranking.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/parallel_text.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

void print_note(const std::string& text) {
  std::fprintf(stderr, "fovea: %s\n", printable(text).c_str());
}

void check_align_files(const Args& args) {
  if (args.has("hyp") || args.has("hyp-order")) {
    fail(ErrorKind::kInvalidArgument,
         "--hyp is a file of links to score; did you mean `fovea align evaluate`?");
  }
  check_outputs(args);
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

// Both must outlive them.
ManyInputs pairs_of(const ParallelText& text, const std::vector<GoldAlignment>& gold) {
  const auto next = [&text, &gold, pairs = text.stream()]() -> std::optional<NamedInput> {
    const std::optional<SentencePair> pair = pairs();
    if (!pair) return {};
    return NamedInput{text.where(*pair), [&gold, pair = *pair] {
                        Sample sample;
                        sample.input.what = Text{std::string(pair.source)};
                        sample.input.translate.target = std::string(pair.target);
                        if (!gold.empty())
                          sample.truth.links = gold[static_cast<size_t>(pair.line - 1)];
                        return sample;
                      }};
  };
  return {.next = next, .count = text.pairs()};
}

void write_text(const Args& args, const std::string& text) {
  if (!args.has("out")) return write_stdout(text);
  const InterruptGuard guard;
  write_file_atomic(args["out"], [&](FileWriter& file) { file.write(text); });
}

struct AlignJob {
  ManyAsked asked;
  ManyInputs inputs;

  // Every pair's line to `take`, in order; null: the answer keeps them.
  Answer run(const std::function<void(const std::string&)>& take, const Watch& watch = {}) {
    ManyOptions options{.reverse = asked.reverse};
    bool told = false;
    options.between = [&](ManyState& state) {
      if (!std::exchange(told, true)) {
        for (const std::string& text : settled_texts(asked, state)) print_note(text);
      }
      if (!take) return;
      for (const ManyState::Row& row : state.rows) take(to_moses(links_of(row)) + "\n");
      state.rows.clear();
    };
    const ManyState state =
        ask_all(asked.engine, inputs, asked.question, watch, std::move(options));
    if (state.cancelled) fail(ErrorKind::kCancelled, "the work was cancelled");
    score = alignment_score(state);
    return answer_of(state, asked.engine, inputs, asked.question);
  }

  std::optional<AlignmentScore> score = {};
};

Answer write_moses(AlignJob& job, const Args& args) {
  if (!args.has("out")) {
    // A terminal shows how far it is by the lines themselves.
    Watch watch;
    if (::isatty(STDOUT_FILENO) == 1) watch.progress = [](const Stage&) {};
    return job.run([](const std::string& line) { write_stdout(line); }, watch);
  }
  const InterruptGuard guard;  // so that no temporary file stays behind
  Answer answer;
  write_file_atomic(args["out"], [&](FileWriter& file) {
    answer = job.run([&](const std::string& line) { file.write(line); });
  });
  return answer;
}

void run_links(AlignJob& job, const Args& args) {
  const bool keeps = args.flag("json") && !args.has("out");
  const Answer answer = keeps ? job.run(nullptr) : write_moses(job, args);
  if (args.flag("json")) {
    Json result = answer.facts.at("result", "");
    if (args.has("out")) result.set("out", args["out"]);
    write_stdout(result.dump() + "\n");
  }
  print_warnings(answer.notes);
  if (!job.score) return;
  print_note(fmt::format("AER {:.1f} %, precision {:.1f} %, recall {:.1f} % on {} pairs",
                         100 * job.score->aer(), 100 * job.score->precision(),
                         100 * job.score->recall(), job.score->sentences));
}

void run_ranking(AlignJob& job, const Args& args) {
  const Answer answer = job.run(nullptr);
  print_warnings(answer.notes);
  const Json& ranking = answer.facts.at("result", "");
  write_text(args, args.flag("json") ? ranking.dump() + "\n" : ranking_text(ranking));
}

}  // namespace

std::vector<Option> align_files_options() {
  std::vector<Option> fields = field_options("align");
  for (Option& option : fields) {
    if (option.name != "symmetrize") continue;
    // Names that are too long for a line of choices.
    option = Option::text(option.name, "NAME",
                          fmt::format("{}: {}", option.help, fmt::join(option.choices, ", ")))
                 .suggesting(option.choices);
  }
  return joined(
      joined(model_options(kDefaultTranslationModel), input_field_options({"from", "to"})),
      joined(std::move(fields), {Option::text("out", "FILE", "write there instead")}));
}

void run_align_files(const Args& args) {
  check_align_files(args);
  const Question question =
      typed_question(args, "align", RunSort::kText, Json::object({{"kind", "align_pairs"}}));
  const ParallelText text(args["SRC"], args["TGT"]);
  const std::vector<GoldAlignment> gold = read_gold(args, text);
  const Languages languages{.source = args.has("from") ? args["from"] : "",
                            .target = args.has("to") ? args["to"] : ""};
  AlignJob job{.asked = {.engine = open_engine(args, kDefaultTranslationModel),
                         .question = question,
                         .languages = languages},
               .inputs = pairs_of(text, gold)};
  job.inputs.languages = languages;
  check_place(question, job.asked.engine);
  if (args.has("reverse-model")) {
    job.asked.reverse = Engine::open(args["reverse-model"], engine_options(args));
  }
  question.flag("ranking") ? run_ranking(job, args) : run_links(job, args);
}

}  // namespace fovea
