#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/cli/explain_view.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : all_methods()) names.push_back(method.name);
  return names;
}

std::string method_summaries() {
  std::string text;
  for (const Method& method : all_methods()) {
    text += fmt::format("  {:<14} {}\n", method.name, method.summary);
  }
  return text;
}

void write_page_file(const Args& args, const ExplainQuestion& question,
                     const Explanation& explanation) {
  {
    const InterruptGuard guard;
    write_explanation_page(args["out"], question, explanation, figure_options(args));
  }
  write_stdout("wrote " + args["out"] + "\n");
}

void run(const Args& args) {
  check_question(args);
  check_out_suffix(args);
  check_output(args, "out", args.has("INPUT") ? args["INPUT"] : "");
  const ExplainQuestion question = read_question(args);
  const Explanation explanation = answer(question);
  if (args.has("out") && is_page_suffix(args["out"]) && !args.flag("json")) {
    write_page_file(args, question, explanation);
    return;
  }
  const Content content = explanation_content(question, explanation);
  show(content, args, predictions_text(question.engine, question.result, stdout_terminal()));
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "what an answer of a model comes from, by a method of your choice",
      .details =
          "Attention weights are routing, not importance; each method asks another question\n"
          "of the same run. `fovea methods NAME` says which, what it costs and when it misleads.\n"
          "\n"
          "methods:\n" +
          method_summaries() +
          "\n"
          "examples:\n"
          "  fovea explain photo.jpg --class cat\n"
          "  fovea explain \"A cat.\" --against \"A dog.\" --method integrated-gradients\n"
          "  fovea explain \"The cat sat on the mat.\" --method rollout\n"
          "  fovea explain \"The cat sat on the mat.\" --method value-norm --token cat --layer 2\n"
          "  fovea explain \"A cat.\" --method ablation --against \"A dog.\"\n"
          "  fovea explain \"I love music.\" --method alti+ --token musique\n"
          "  fovea explain photo.jpg --method rollout --at 120,80\n"
          "  fovea explain photo.jpg --method ablation --class cat --against dog\n"
          "  fovea explain photo.jpg --method raw --query 3 --out query.png\n",
      .positionals = {any_input_positional()},
      .options = joined(
          joined(model_options(kDefaultTextModel), joined(input_options(), picture_options())),
          joined(
              {Option::choice("method", method_names(),
                              "which question to ask (default: relevancy; of models that embed, "
                              "without --against: rollout)"),
               Option::text("class", "NAME|i",
                            "the answer asked about: a class by its label or number, a word that "
                            "the model writes, or a text to be similar to (default: what the model "
                            "answers)"),
               Option::text("against", "NAME|i",
                            "why that and not this: another class, word or text; alone, of models "
                            "that embed, the text or picture to be similar to"),
               Option::text("token", "WORD|i",
                            "the position asked from (default: [CLS] or the first, of decoders the "
                            "last; of translations the last word that is written)"),
               Option::text("at", "X,Y", "of a picture, the patch at this pixel instead of [CLS]"),
               Option::text("span", "TEXT|i-j",
                            "of span-mass: the stretch of the input that is looked at"),
               Option::integer("query", "N",
                               "of models that find objects, the object query (default: the "
                               "surest)",
                               0),
               Option::choice("site",
                              {"self", "encoder", "decoder", "cross", "vision", "text", "pool"},
                              "which attention, where the model has several"),
               Option::integer("layer", "N",
                               "of methods that look at one layer (default: the last)", 0),
               Option::text("head", "N|mean", "of methods that look at one head (default: mean)"),
               Option::choice("colors", color_names(),
                              "the colour map (default: what suits the figure)"),
               Option::flag("json", "print the scores and what they stand for as JSON"),
               Option::text("out", "FILE",
                            "write a file: .png .svg .pdf, .html as a page of its own, or the "
                            "numbers as " +
                                data_suffixes()),
               Option::integer("scale", "N", "pixels of a .png per unit, 1 to 4 (default: 2)", 1),
               Option::flag("sidecar", "also write what a figure shows to FILE.json")},
              method_parameter_options())),
      .run = run};
}

}  // namespace fovea
