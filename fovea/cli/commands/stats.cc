#include <algorithm>

#include "fovea/ask/many/statistics.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/capture/site.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/corpus.h"
#include "fovea/cli/count.h"
#include "fovea/cli/help.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/figure/statistics_view.h"

namespace fovea {
namespace {

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

void check_stats(const Args& args, const Question& question) {
  check_outputs(args);
  if (args.has("out") && !is_data_suffix(args["out"]) && !is_figure_suffix(args["out"])) {
    fail(ErrorKind::kInvalidArgument,
         "--out is '{}' but statistics are written to .png, .svg, .pdf, {}; give one of these "
         "suffixes",
         args["out"], data_suffixes());
  }
  check_figure_args(args);
  const std::optional<SiteKind> site = question.place.site;
  if (args.has("targets") && site != SiteKind::kDecoderSelf && site != SiteKind::kCross) {
    fail(ErrorKind::kInvalidArgument,
         "--targets is what a decoder is made to write; leave it out, or choose --site decoder or "
         "cross of a translation model");
  }
}

bool counts_pictures(const Engine& engine, const Args& args, const Question& question) {
  const ModelFacts& facts = engine.facts();
  if (args.flag("texts") && !(facts.takes_pixels() && facts.takes_text())) {
    fail(ErrorKind::kInvalidArgument,
         "--texts chooses between two towers but {} has one; leave it out", engine.name());
  }
  const bool texts = args.flag("texts") || question.place.site == SiteKind::kTextSelf;
  if (args.has("targets") && facts.takes_pixels()) {
    fail(ErrorKind::kInvalidArgument, "--targets is of texts but {} sees pictures; leave it out",
         engine.name());
  }
  return facts.takes_pixels() && !texts;
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

void run_stats_command(const Args& args) {
  const Question question =
      typed_question(args, "stats", RunSort::kText, Json::object({{"kind", "stats"}}));
  check_stats(args, question);
  const Engine engine = open_engine(args, default_stats_model(args));
  const bool pictures = counts_pictures(engine, args, question);
  const Corpus corpus = open_corpus(args, pictures);
  const ManyInputs inputs = inputs_of(corpus, args.has("limit") ? args.integer("limit") : 0);
  const ManyState state = counted(engine, inputs, question, state_path(args));
  const Answer answer = answer_of(state, engine, inputs, question);
  // In the terminal a table tells the kinds of heads, in a file the caption.
  const CorpusStatistics statistics = state.sums.total();
  const SiteKind site = parse_site_kind(answer.facts.at("site", "").as_string(""));
  MatrixFigure told = statistics_figure(statistics, site, engine.name(), metric_of(question),
                                        /*names_kinds=*/false);
  show_count(answer, args, drawn(kinds_table(statistics), args) + "\n", std::move(told));
  // Only now is nothing lost.
  std::error_code ignored;
  if (const auto file = state_path(args); !file.empty()) std::filesystem::remove(file, ignored);
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
          "interruption. Inputs that cannot be read are left out and told.\n"
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
              joined(model_options(fmt::format("{}, of pictures {}", kDefaultTextModel,
                                               kDefaultPictureModel)),
                     field_options("stats")),
              {Option::flag("texts", "count the tower of texts, in a model with two towers"),
               Option::text("targets", "FILE",
                            "translations of CORPUS line by line, for --site decoder and cross"),
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
