#include "fovea/ask/question_kind.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

// For a text, the model that writes: a change shows in the next word.
std::string_view default_change_model(const GivenInput& given, const Args& args) {
  if (given.kind == GivenInput::Kind::kPicture) {
    return args.has("query") || args.has("threshold") ? kDefaultDetectionModel
                                                      : kDefaultPictureModel;
  }
  return args.has("target") ? kDefaultTranslationModel : kDefaultCausalModel;
}

void run_change(const Args& args) {
  const GivenInput given = given_input(args);
  check_answer_options(args);
  Json json = Json::object();
  json.set("kind", "change");
  const Question question = typed_question(args, "change", RunSort::kText, std::move(json));
  show(open_session(args, given, default_change_model(given, args), question), question, args);
}

}  // namespace

Command change_command() {
  return {
      .name = "change",
      .summary = "what a model says without a word, an edge or a head, beside what it says",
      .details =
          "The model runs twice, as it is and changed. Words, edges and heads are cut before\n"
          "the softmax, so that rows sum to 1 again. Shown are the next words, classes,\n"
          "objects or the translation, before and after; with --layer, --head, --token or\n"
          "--map also a map, before and after.\n"
          "\n"
          "An edge is ROW:COLUMN, who looks : at whom, by words or numbers; a head is\n"
          "LAYER.HEAD. A site in front names another attention: cross.5.3.\n"
          "\n"
          "examples:\n"
          "  fovea change \"When Mary and John went to the store, John gave a drink to\" --hide "
          "#9\n"
          "  fovea change \"When Mary and John went to the store, John gave a drink to\" \\\n"
          "      --cut to:Mary --silence 1.5 --silence 1.3\n"
          "  fovea change \"The cat sat on the mat.\" --hide cat --layer 5 --head 3 --out cut.png\n"
          "  fovea change -m en-fr \"I love music.\" --hide love\n"
          "  fovea change photo.jpg --hide-at 120,80:130,80 --token \"[CLS]\"\n"
          "  fovea change photo.jpg -m scenes-detr --silence cross.5\n",
      .positionals = {any_input_positional()},
      .options = joined(joined(joined(model_options(kDefaultCausalModel), input_options()),
                               input_field_options({"beam", "size"})),
                        joined(options_of(question_kind_named("change").fields), answer_options())),
      .run = run_change};
}

}  // namespace fovea
