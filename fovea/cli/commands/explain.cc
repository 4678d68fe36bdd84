#include <fmt/format.h>

#include "fovea/cli/explain/card.h"
#include "fovea/cli/explain/check.h"
#include "fovea/cli/explain/compare.h"
#include "fovea/cli/explain/numbers.h"
#include "fovea/cli/explain/view.h"
#include "fovea/cli/help.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/method_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

std::string method_summaries() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Method& method : all_methods()) lines.emplace_back(method.name, method.summary);
  return help_list(lines);
}

void write_page_file(const Args& args, const ExplainQuestion& question,
                     const Explanation& explanation, const FaithfulnessCard* card) {
  {
    const InterruptGuard guard;
    write_explanation_page(args["out"], question, explanation, figure_options(args), card);
  }
  write_stdout(args.flag("json") ? explanation_json(question, explanation, card).dump(1) + "\n"
                                 : wrote_line(args["out"]));
}

void write_curves(const Args& args, const CheckedExplanation& checked) {
  {
    const InterruptGuard guard;
    CurvesFigure figure = card_figure(card_view(checked));
    figure.text.metadata =
        explanation_metadata(checked.question, checked.explanation, &checked.card);
    FigureOptions options = figure_options(args);
    options.sidecar = false;
    write_figure(args["check-out"], figure, options);
  }
  if (!args.flag("json")) write_stdout(wrote_line(args["check-out"]));
}

ExplainQuestion question_of(const GivenInput& given, const Args& args) {
  if (given.kind == GivenInput::Kind::kRun) return read_run_question(given, args);
  const Engine engine = open_for_question(given, args);
  return read_question(given, args, engine, chosen_method(args, engine.facts()));
}

void run_one(const Args& args) {
  check_out_suffix(args);
  const ExplainQuestion question = question_of(given_input(args, InputKinds::kRuns), args);
  const Explanation explanation = answer(question);
  std::optional<FaithfulnessCard> card;
  if (args.flag("check")) card = Checker(args, kOrdersOfOne).card(question, explanation);
  print_warnings(question.result.warnings);
  const FaithfulnessCard* checked = card ? &*card : nullptr;
  if (args.has("out") && is_page_suffix(args["out"])) {
    write_page_file(args, question, explanation, checked);
  } else {
    show(explanation_content(question, explanation, checked), args,
         question.engine ? predictions_text(*question.engine, question.result, stdout_terminal())
                         : "");
  }
  if (!card) return;
  if (args.has("check-out")) write_curves(args, {question, explanation, *card});
  if (args.flag("json")) return;
  write_stdout("\n" + drawn(card_table(card_view({question, explanation, *card})), args));
}

void run_comparison(const Args& args) {
  check_table_out(args, "comparisons");
  const MethodComparison comparison = compare_methods(args);
  if (comparison.left_out > 0) {
    print_warnings({fmt::format("{} of {} inputs were left out; the first: {}", comparison.left_out,
                                comparison.left_out + comparison.inputs, comparison.first_reason)});
  }
  TableFigure table = comparison_table(comparison);
  table.text.metadata = comparison_json(comparison);
  show({.figure = std::move(table),
        .json = [comparison] { return comparison_json(comparison); },
        .csv = [comparison] { return comparison_csv(comparison); }},
       args);
}

void run_explain(const Args& args) {
  check_question(args);
  check_check_args(args);
  check_outputs(args);
  if (args.flag("compare")) {
    run_comparison(args);
  } else {
    run_one(args);
  }
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
         "Of a captured run (fovea capture) methods answer that need nothing but its maps;\n"
         "those that run the model again say so.\n";
}

std::vector<Option> explain_options() {
  return joined(
      joined(model_options(fmt::format("{}, of pictures {}, of translations {}", kDefaultTextModel,
                                       kDefaultPictureModel, kDefaultTranslationModel)),
             joined(input_options(), picture_options())),
      joined({Option::text("method", "NAME",
                           "which question to ask: one of those below (default: relevancy; of "
                           "models that embed, without --against: rollout); with --compare "
                           "several with commas between them")
                  .suggesting(method_names()),
              Option::text("class", "NAME|i",
                           "the answer asked about: a class by its label or number, a word that "
                           "the model writes or its number in the vocabulary (#i where i is a word "
                           "too), or a text to be similar to (default: what the model answers)"),
              Option::text("against", "NAME|i",
                           "why that and not this: another class, word or text; alone, of models "
                           "that embed, the text or picture to be similar to"),
              Option::text("token", "WORD|i",
                           "the position asked from (default: [CLS] or the first, of decoders the "
                           "last; of translations the last word that is written)"),
              Option::text("at", "X,Y", "of a picture, the patch at this pixel instead of [CLS]"),
              Option::text("span", "TEXT|i-j",
                           "of span-mass: the stretch of the input that is looked at; of a picture "
                           "its positions, patches row by row after the special tokens"),
              Option::integer("query", "N",
                              "of models that find objects, the object query (default: the "
                              "surest)",
                              0),
              site_option("which attention, where the model has several", {SiteKind::kPanoptic}),
              Option::integer("layer", "N", "of methods that look at one layer (default: the last)",
                              0),
              Option::text("head", "N|mean", "of methods that look at one head (default: mean)"),
              Option::flag("json", "print the scores and what they stand for as JSON"),
              Option::text("out", "FILE",
                           "write a file: .png .svg .pdf, .html as a page of its own, or the "
                           "numbers as " +
                               data_suffixes())},
             joined(map_options({"colors", "scale", "svg-text", "sidecar"}),
                    joined(check_options(), method_parameter_options()))));
}

}  // namespace

Command explain_command() {
  return {.name = "explain",
          .summary = "what an answer of a model comes from, by a method of your choice",
          .details = details(),
          .positionals = {{.name = "INPUT",
                           .help = "the text, in quotes, a picture file for a model that sees "
                                   "pictures, or a captured run",
                           .required = false}},
          .options = explain_options(),
          .run = run_explain};
}

}  // namespace fovea
