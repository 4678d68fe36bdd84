#include <fmt/format.h>

#include "fovea/ask/explanation_answer.h"
#include "fovea/ask/numbers_file.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/count.h"
#include "fovea/cli/explain/asked.h"
#include "fovea/cli/explain/compare.h"
#include "fovea/cli/help.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/run_input.h"
#include "fovea/cli/show.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/explanation_page.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

std::string method_summaries() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Method& method : all_methods()) lines.emplace_back(method.name, method.summary);
  return help_list(lines);
}

void write_page_file(const Args& args, const Answer& answer) {
  {
    const InterruptGuard guard;
    write_page(args["out"], explanation_page(answer), figure_options(args));
  }
  write_stdout(args.flag("json") ? whole(answer).dump(1) + "\n" : wrote_line(args["out"]));
}

void write_curves(const Args& args, const Figure& curves) {
  {
    const InterruptGuard guard;
    FigureOptions options = figure_options(args);
    options.sidecar = false;
    write_figure(args["check-out"], curves, options);
  }
  if (!args.flag("json")) write_stdout(wrote_line(args["check-out"]));
}

// The answer's notes stand in the caption, so only the run's are printed.
void show_explanation(const Answer& answer, const FinishedRun& run, const Args& args) {
  print_warnings(run.result().warnings);
  if (args.has("out") && is_page_suffix(args["out"])) return write_page_file(args, answer);
  show({.figure = answer.figure,
        .json = [answer] { return whole(answer); },
        .write_data = [answer](const std::filesystem::path& path) { write_numbers(path, answer); },
        .sidecar = [answer] { return answer_sidecar(answer); }},
       args, run.engine() ? predictions_text(*run.engine(), run.result(), stdout_terminal()) : "");
}

void explain_one(const Args& args) {
  check_out_suffix(args);
  const GivenInput given = given_input(args, InputKinds::kRuns);
  Question question = typed_explanation(args);
  const Session session = open_explained(args, given, question);
  if (session.opened()) read_named_pictures(question, session.opened()->engine);
  const Answer answer = session.ask(question);
  show_explanation(answer, *session.run(question), args);
  const Figure* curves = find_beside(answer, "curves");
  if (curves != nullptr && args.has("check-out")) write_curves(args, *curves);
  const Figure* grades = find_beside(answer, "grades");
  if (grades != nullptr && !args.flag("json")) write_stdout("\n" + drawn(*grades, args));
}

void explain_many(const Args& args) {
  check_table_out(args, "comparisons");
  show_count(compared_methods(args), args);
}

void run_explain(const Args& args) {
  check_check_args(args);
  check_outputs(args);
  args.flag("compare") ? explain_many(args) : explain_one(args);
}

std::string details() {
  return "Attention weights are routing, not importance; each method asks another\n"
         "question of the same run. `fovea methods NAME` says which, what it costs and\n"
         "when it misleads.\n"
         "\n"
         "methods:\n" +
         method_summaries() +
         "\n"
         "examples:\n"
         "  fovea explain photo.jpg --class cat\n"
         "  fovea explain \"A cat.\" --against \"A dog.\" --method integrated-gradients\n"
         "  fovea explain \"The cat sat on the mat.\" --method rollout\n"
         "  fovea explain \"The cat sat.\" --method value-norm --token cat --layer 2\n"
         "  fovea explain \"A cat.\" --method ablation --against \"A dog.\"\n"
         "  fovea explain \"I love music.\" --method alti+ --token musique\n"
         "  fovea explain photo.jpg --method rollout --at 120,80\n"
         "  fovea explain photo.jpg --method ablation --class cat --against dog\n"
         "  fovea explain photo.jpg --method raw --query 3 --out query.png\n"
         "  fovea explain photo.jpg --method rollout --check --check-out curves.png\n"
         "  fovea explain photos --compare --method raw,rollout --out grades.csv\n"
         "  fovea explain run.fovea.safetensors --method rollout --token cat\n"
         "\n"
         "--check takes positions away in the order of their scores, the most important\n"
         "first, and watches the probability of the answer (of embeddings the cosine). It\n"
         "costs 40 runs of the model for the map and 21 for each random order; --compare\n"
         "pays for the random orders once for each input, not for each method.\n"
         "\n"
         "INPUT may be a captured run (fovea capture), or an array of weights that another\n"
         "program saved. Methods that need only maps answer; others say what is missing.\n";
}

std::vector<Option> explain_options() {
  return joined(
      joined(model_options(fmt::format("{}, of pictures {}, of translations {}", kDefaultTextModel,
                                       kDefaultPictureModel, kDefaultTranslationModel)),
             joined(input_options(), input_field_options({"size"}))),
      joined(
          joined(explanation_options(), check_options()),
          joined(
              {Option::flag("json", "print question and answer as JSON (docs/answers.md)"),
               Option::text("out", "FILE",
                            "write a file: .png .svg .pdf, .html as a page of its own, or the "
                            "numbers as " +
                                data_suffixes())},
              joined(array_options(), map_options({"colors", "pixels", "svg-text", "sidecar"})))));
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "what an answer of a model comes from, by a method of your choice",
      .details = details(),
      .positionals = {{.name = "INPUT",
                       .help =
                           "the text, in quotes, a picture file for a model that sees "
                           "pictures, a captured run, or a .npy, .npz or .safetensors of weights",
                       .required = false}},
      .options = explain_options(),
      .run = run_explain};
}

}  // namespace fovea
