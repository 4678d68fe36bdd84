#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/capture/site.h"
#include "fovea/cli/help.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/stats/view.h"

namespace fovea {
namespace {

const HeadMetric& chosen_metric(const Args& args) {
  for (const HeadMetric& metric : head_metrics()) {
    if (args.has("metric") && metric.name == args["metric"]) return metric;
  }
  return head_metrics().front();
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const HeadMetric& metric : head_metrics()) names.emplace_back(metric.name);
  return names;
}

std::string metric_help() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const HeadMetric& metric : head_metrics()) lines.emplace_back(metric.name, metric.help);
  return help_list(lines);
}

std::string type_help() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const HeadType& type : head_types()) lines.emplace_back(type.name, type.rule);
  lines.emplace_back("mixed", "none of these");
  return help_list(lines);
}

void check_stats(const Args& args) {
  check_outputs(args);
  const bool has_out = args.has("out");
  if (has_out && !is_data_suffix(args["out"]) && !is_figure_suffix(args["out"])) {
    fail(ErrorKind::kInvalidArgument,
         "--out is '{}' but statistics are written to .png, .svg, .pdf, {}; give one of these "
         "suffixes",
         args["out"], data_suffixes());
  }
  check_figure_args(args);
}

bool counts_pictures(const Engine& engine, const Args& args) {
  const ModelFacts& facts = engine.facts();
  if (args.flag("texts") && !(facts.takes_pixels() && facts.takes_text())) {
    fail(ErrorKind::kInvalidArgument,
         "--texts chooses between two towers but {} has one; leave it out", engine.name());
  }
  const bool texts = args.flag("texts") || site_kind(args) == SiteKind::kTextSelf;
  return facts.takes_pixels() && !texts;
}

SiteKind chosen_site_kind(const Engine& engine, bool pictures, const Args& args) {
  const std::vector<SiteKind> kinds = countable_kinds(engine, pictures);
  const SiteKind kind = site_kind(args).value_or(kinds.front());
  if (std::ranges::count(kinds, kind) == 0) {
    std::string names;
    for (const SiteKind one : kinds) {
      names += (names.empty() ? "" : ", ") + std::string(name_of(one));
    }
    fail(ErrorKind::kInvalidArgument,
         "--site is {} but what can be counted of {} is {}; leave it out or choose one of these",
         args["site"], engine.name(), names);
  }
  if (args.has("targets") && (pictures || kind == SiteKind::kSelf || kind == SiteKind::kTextSelf ||
                              kind == SiteKind::kEncoderSelf)) {
    fail(ErrorKind::kInvalidArgument,
         "--targets is what a decoder is made to write but {} has none; leave it out, or choose "
         "--site decoder or cross of a translation model",
         name_of(kind));
  }
  if (args.flag("importance") && !gives_answer(engine)) {
    fail(ErrorKind::kInvalidArgument,
         "--importance asks what an answer hangs on but {} gives no class, next word or object for "
         "a whole input; ask of one input: fovea explain --method head-importance",
         engine.name());
  }
  const HeadMetric& metric = chosen_metric(args);
  if (!is_counted(metric.needs, engine, pictures, kind)) {
    std::string names;
    for (const HeadMetric& one : head_metrics()) {
      if (!is_counted(one.needs, engine, pictures, kind)) continue;
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    fail(ErrorKind::kInvalidArgument,
         "--metric is {} but {} of {} has only {}; choose one of these", metric.name, name_of(kind),
         engine.name(), names);
  }
  return kind;
}

bool counts_importance(const Args& args) {
  return args.flag("importance") || chosen_metric(args).needs == MetricNeeds::kAnswer;
}

// What lies in CORPUS says which kind of model is meant.
std::string_view default_stats_model(const Args& args) {
  const std::string& corpus = args["CORPUS"];
  const bool pictures = is_folder(corpus) ? holds_pictures(corpus) : names_picture(corpus);
  return pictures ? kDefaultPictureModel : kDefaultTextModel;
}

Corpus open_corpus(const Args& args, bool pictures) {
  if (pictures) return Corpus::of_pictures(args["CORPUS"]);
  if (args.has("targets")) return Corpus::of_pairs(args["CORPUS"], args["targets"]);
  return Corpus::of_texts(args["CORPUS"]);
}

// Beside the result, so that the same command finds it again.
std::filesystem::path state_path(const Args& args) {
  if (args.has("state")) return args["state"];
  return args.has("out") ? args["out"] + ".part" : "";
}

void print_notes(const StatsResult& result) {
  const StatsState& state = result.state;
  if (result.resumed_at > 0) {
    print_warnings({fmt::format("{} inputs were counted by an earlier run", result.resumed_at)});
  }
  if (state.left_out > 0) {
    print_warnings({fmt::format("{} of {} inputs were left out; the first: {}", state.left_out,
                                state.left_out + state.statistics.inputs(), state.first_reason)});
  }
}

void run_stats_command(const Args& args) {
  check_stats(args);
  const Engine engine = open_engine(args, default_stats_model(args));
  const bool pictures = counts_pictures(engine, args);
  const SiteKind kind = chosen_site_kind(engine, pictures, args);
  const Corpus corpus = open_corpus(args, pictures);
  const StatsResult result = run_stats(engine, corpus, pictures,
                                       {.kind = kind,
                                        .limit = args.has("limit") ? args.integer("limit") : 0,
                                        .state = state_path(args),
                                        .dtype = args["dtype"],
                                        .importance = counts_importance(args)});
  if (result.state.statistics.inputs() == 0) {
    fail(ErrorKind::kBadFile, "there is no input that {} takes; the first: {}", engine.name(),
         result.state.first_reason);
  }
  print_notes(result);
  const Content content =
      stats_content(result, engine.name(), chosen_metric(args), args.has("out"));
  show(content, args, drawn(kinds_table(result), args) + "\n");
  // Only now is nothing lost.
  std::error_code ignored;
  if (const auto state = state_path(args); !state.empty()) std::filesystem::remove(state, ignored);
}

}  // namespace

Command stats_command() {
  return {
      .name = "stats",
      .summary = "what kind each head is, counted over many inputs",
      .details =
          "CORPUS is a file with one text per line, or a folder of .txt files; for models\n"
          "of pictures a folder of them, in scenes-vit unless told. Maps are read while\n"
          "they are computed and none is kept. With --out the count is kept beside it in\n"
          "FILE.part while it runs, and the same command goes on from there after an\n"
          "interruption.\n"
          "\n"
          "Counted is the self-attention of the only stack, of the encoder where there is a\n"
          "decoder too, of the picture tower or with --texts of the text tower; --site\n"
          "decoder and --site cross choose the others. The decoder of a translation model\n"
          "reads what it writes itself, or --targets.\n"
          "\n"
          "numbers of a head, each the mean over all rows:\n" +
          metric_help() +
          "\n"
          "kinds of heads, the first that fits (docs/head-statistics.md has the limits):\n" +
          type_help() +
          "\n"
          "examples:\n"
          "  fovea stats sentences.txt\n"
          "  fovea stats sentences.txt --metric induction -m gpt2\n"
          "  fovea stats english.txt -m en-fr --site cross --targets french.txt\n"
          "  fovea stats photos --out heads.csv\n",
      .positionals = {{.name = "CORPUS", .help = "a text file or a folder"}},
      .options = joined(
          joined(
              model_options(
                  fmt::format("{}, of pictures {}", kDefaultTextModel, kDefaultPictureModel)),
              {site_option("which attention is counted, where the model has several",
                           {SiteKind::kPool, SiteKind::kPanoptic}),
               Option::flag("texts", "of a model with two towers, count that of texts"),
               Option::text("targets", "FILE",
                            "translations of CORPUS line by line, for --site decoder and cross"),
               Option::choice("metric", metric_names(),
                              "the number that is drawn (default: entropy)"),
               Option::flag("importance",
                            "also run back from each input's answer, for the metric importance"),
               Option::integer("limit", "N", "only the first N inputs", 1),
               Option::text("state", "FILE",
                            "where the count is kept while it runs (default: the file of --out "
                            "with .part)"),
               Option::flag("json", "print all numbers of all heads as JSON"),
               Option::text("out", "FILE",
                            "write a file: .png .svg .pdf, or the numbers as " + data_suffixes())}),
          map_options({"colors", "pixels", "svg-text", "sidecar"})),
      .run = run_stats_command};
}

}  // namespace fovea
