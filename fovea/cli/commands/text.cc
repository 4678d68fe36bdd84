#include "fovea/cli/ask_options.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

void run_text(const Args& args) {
  const GivenInput given = given_input(args, InputKinds::kTexts);
  check_answer_options(args);
  const Question question = typed_question(args, "text");
  const std::string_view model = args.has("generate") ? kDefaultCausalModel : kDefaultTextModel;
  show(open_session(args, given, model, question), question, args);
}

}  // namespace

Command text_command() {
  return {
      .name = "text",
      .summary = "what each word of a text attends to, in every head of a model",
      .details =
          "Rows of a map are the tokens that look, columns those they look at. With --generate\n"
          "the default model is " +
          std::string(kDefaultCausalModel) + ".\n\n" + question_summaries("text") +
          "\n"
          "examples:\n"
          "  fovea text \"The cat sat on the mat because it was tired.\"\n"
          "  fovea text \"The cat sat on the mat because it was tired.\" --token it\n"
          "  fovea text \"The cat sat on the mat.\" --layer 2 --head 3 --out map.png\n"
          "  fovea text -m gpt2 \"The cat sat on the\" --generate 5 --view matrix\n"
          "  fovea text --text-file page.txt --layer all --out heads.pdf\n",
      .positionals = {input_positional()},
      .options = joined(joined(joined(model_options(kDefaultTextModel), input_options()),
                               input_field_options({"generate", "temperature", "top_p", "seed"})),
                        joined(question_options("text"), answer_options())),
      .run = run_text};
}

}  // namespace fovea
