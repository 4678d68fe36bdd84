#include "fovea/base/error.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/stats_view.h"

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
  std::string text;
  for (const HeadMetric& metric : head_metrics()) {
    text += fmt::format("  {:<11} {}\n", metric.name, metric.help);
  }
  return text;
}

void check(const Args& args) {
  if (!args.has("out")) return;
  const std::filesystem::path path = args["out"];
  if (is_data_suffix(path) || is_figure_suffix(path)) return;
  fail(ErrorKind::kInvalidArgument,
       "--out is '{}' but statistics are written to .png, .svg, .pdf, {}; give one of these "
       "suffixes",
       path.string(), data_suffixes());
}

// Beside the result, so that the same command finds it again.
std::filesystem::path state_path(const Args& args) {
  if (args.has("state")) return args["state"];
  return args.has("out") ? args["out"] + ".part" : "";
}

void run(const Args& args) {
  check(args);
  const Engine engine = open_engine(args, kDefaultTextModel);
  const bool pictures = engine.facts().takes_pixels && !args.flag("texts");
  const std::filesystem::path path = args["CORPUS"];
  const Corpus corpus = pictures ? Corpus::of_pictures(path) : Corpus::of_texts(path);
  const StatsResult result = run_stats(
      engine, corpus, pictures,
      {.limit = args.has("limit") ? args.integer("limit") : 0, .state = state_path(args)});
  if (result.left_out > 0) {
    print_warnings(
        {fmt::format("{} of {} inputs were left out; the first: {}", result.left_out,
                     result.left_out + result.statistics.inputs(), result.first_reason)});
  }
  if (result.statistics.inputs() == 0) {
    fail(ErrorKind::kBadFile, "{} has no input that {} takes; the first: {}", path.string(),
         engine.name(), result.first_reason);
  }
  if (args.has("out") && std::filesystem::path(args["out"]).extension() == ".csv") {
    {
      const InterruptGuard guard;
      const std::string text = stats_csv(result);
      write_file_atomic(args["out"], [&](FileWriter& file) { file.write(text); });
    }
    write_stdout("wrote " + args["out"] + "\n");
    return;
  }
  show(stats_content(result, engine.name(), chosen_metric(args)), args,
       typed_heads_text(result, stdout_terminal()));
}

}  // namespace

Command stats_command() {
  return {
      .name = "stats",
      .summary = "what kind each head is, counted over many inputs",
      .details =
          "CORPUS is a file with one text per line, or a folder of .txt files; for models\n"
          "of pictures a folder of them. Maps are read while they are computed and none is\n"
          "kept. With --out the count is kept beside it in FILE.part while it runs, and the\n"
          "same command goes on from there after an interruption.\n"
          "\n"
          "numbers of a head, each the mean over all rows:\n" +
          metric_help() +
          "\n"
          "examples:\n"
          "  fovea stats sentences.txt\n"
          "  fovea stats sentences.txt --metric induction -m gpt2\n"
          "  fovea stats photos -m scenes-vit --out heads.csv\n",
      .positionals = {{.name = "CORPUS", .help = "a text file or a folder"}},
      .options = joined(
          model_options(kDefaultTextModel),
          {Option::choice("metric", metric_names(), "the number that is drawn (default: entropy)"),
           Option::integer("limit", "N", "only the first N inputs", 1),
           Option::flag("texts", "of a model with two towers, count that of texts"),
           Option::text("state", "FILE",
                        "where the count is kept while it runs (default: the file of --out "
                        "with .part)"),
           Option::choice("colors", color_names(), "the colour map"),
           Option::flag("json", "print all numbers of all heads as JSON"),
           Option::text("out", "FILE",
                        "write a file: .png .svg .pdf, or the numbers as " + data_suffixes()),
           Option::integer("scale", "N", "pixels of a .png per unit, 1 to 4 (default: 2)", 1),
           Option::flag("sidecar", "also write what a figure shows to FILE.json")}),
      .run = run};
}

}  // namespace fovea
