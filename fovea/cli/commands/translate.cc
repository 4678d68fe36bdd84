#include "fovea/base/error.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/explain/alignment/alignment.h"

namespace fovea {
namespace {

// Views that are an attention's name: all heads of it, or what else is asked for.
const std::vector<std::string> kSiteViews{"encoder", "decoder", "cross"};

bool shows_alignment(const Args& args) {
  return args.has("view") ? args["view"] == "align" : !args.has("top");
}

Question asked_question(const Args& args) {
  if (shows_alignment(args)) {
    return typed_question(args, "translate", RunSort::kText, Json::object({{"kind", "align"}}));
  }
  const std::string view = args.has("view") ? args["view"] : "top";
  const bool names_site = std::ranges::count(kSiteViews, view) > 0;
  if (names_site && args.has("site") && args["site"] != view) {
    fail(ErrorKind::kInvalidArgument, "--view is {} but --site {}; leave one of them out", view,
         args["site"]);
  }
  return typed_question(args, "translate", RunSort::kText,
                        Json::object({{"site", names_site ? view : std::string("cross")}}));
}

// A page holds all attentions unless one is named by --site.
void show_whole_page(const Session& session, const Question& question, const Args& args) {
  PageOptions options = session.page(question);
  if (!args.has("site") && !shows_alignment(args)) {
    options.opens_at = question.place.site;
    options.choice.kind.reset();
  }
  show_page(session, options, args);
}

void check_moses(const Args& args) {
  if (!args.flag("moses")) return;
  if (!shows_alignment(args)) {
    fail(ErrorKind::kInvalidArgument, "--moses is for alignments; leave it or {} out",
         args.has("view") ? "--view " + args["view"] : "--top");
  }
  for (const char* name : {"out", "json", "hard", "pieces"}) {
    if (!args.has(name)) continue;
    fail(ErrorKind::kInvalidArgument,
         "--moses prints the links alone, so --{} has no place; leave one of them out", name);
  }
}

void print_moses(const Session& session, const Question& question) {
  const Answer answer = session.ask(question);
  print_warnings(answer.notes);
  Alignment links;
  for (const Json& link : answer.facts.at("result", "").at("links", "").as_array("")) {
    const Json::Array& pair = link.as_array("");
    links.push_back({pair[0].as_int(""), pair[1].as_int("")});
  }
  write_stdout(to_moses(links) + "\n");
}

void run_translate(const Args& args) {
  if (args.has("INPUT") == args.has("text-file")) {
    fail(ErrorKind::kInvalidArgument,
         "translate takes a text, INPUT or --text-file, and was given {}; give one",
         args.has("INPUT") ? "both" : "neither");
  }
  check_moses(args);
  check_answer_options(args);
  const Question question = asked_question(args);
  const Session session =
      open_session(args, given_source(args), kDefaultTranslationModel, question);
  if (args.flag("moses")) return print_moses(session, question);
  writes_page(args) ? show_whole_page(session, question, args) : show(session, question, args);
}

}  // namespace

Command translate_command() {
  return {
      .name = "translate",
      .summary = "translate a text, and what each target word looked at in the source",
      .details =
          "Without --layer and --head the head is chosen whose attention lies on pairs of\n"
          "tokens that belong together by themselves and whose links are the same in\n"
          "either direction; the caption says which and why (docs/alignment.md).\n\n" +
          question_summaries("translate") +
          "  encoder, decoder, cross: all heads within the encoder, within the decoder, or\n"
          "  from the decoder to the source\n"
          "\n"
          "examples:\n"
          "  fovea translate \"The cat sat on the mat.\"\n"
          "  fovea translate \"The cat sat on the mat.\" --target \"Le chat dort.\"\n"
          "  fovea translate \"The cat sat on the mat.\" --moses\n"
          "  fovea translate \"The cat sat on the mat.\" --layer 2 --head mean --out map.png\n"
          "  fovea translate \"The cat sat on the mat.\" --view cross --layer all\n",
      .positionals = {input_positional()},
      .options = joined(
          joined(model_options(kDefaultTranslationModel),
                 joined({Option::text("text-file", "FILE", "read the source from a file instead")},
                        input_field_options(
                            {"target", "beam", "length_penalty", "most_tokens", "from", "to"}))),
          joined(joined(question_options("translate", {"align", "encoder", "decoder", "cross"},
                                         "align"),
                        {Option::flag("moses",
                                      "print the links as 0-0 1-2, source word and target "
                                      "word")}),
                 answer_options())),
      .run = run_translate};
}

}  // namespace fovea
