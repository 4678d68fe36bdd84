#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/align/options.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/cli/translate/view.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

bool shows_alignment(const Args& args) {
  return !args.has("view") || args["view"] == "align";
}

// Whose maps are shown: those that the alignment is read from, or the view's.
SiteKind site_kind_of(const Args& args) {
  if (shows_alignment(args)) return SiteKind::kCross;
  if (args["view"] == "encoder") return SiteKind::kEncoderSelf;
  return args["view"] == "decoder" ? SiteKind::kDecoderSelf : SiteKind::kCross;
}

void check_alignment(const Args& args) {
  for (const char* name : {"token", "column", "words", "site"}) {
    if (args.has(name)) {
      fail(ErrorKind::kInvalidArgument,
           "--{} is for maps but the alignment is shown; give --view cross, encoder or decoder too",
           name);
    }
  }
  const bool page = args.has("out") && is_page_suffix(args["out"]);
  for (const char* name : {"out", "json", "hard", "pieces"}) {
    if (args.flag("moses") && args.has(name)) {
      fail(ErrorKind::kInvalidArgument,
           "--moses prints the links alone, so --{} has no place; leave one of them out", name);
    }
    if (page && std::string_view(name) != "out" && args.has(name)) {
      fail(ErrorKind::kInvalidArgument, "--{} has no place on a page; leave it out", name);
    }
  }
  read_align_options(args);
  check_out_suffix(args);
  check_outputs(args);
}

// Of the other views.
void check_maps_alone(const Args& args) {
  const std::string& view = args["view"];
  for (const char* name : {"moses", "hard", "pieces", "read", "norms", "convention", "links",
                           "threshold", "ignore-end"}) {
    if (args.has(name)) {
      fail(ErrorKind::kInvalidArgument, "--{} is for alignments; leave it or --view {} out", name,
           view);
    }
  }
  if (args.has("site") && (view == "encoder" || view == "decoder" || view == "cross") &&
      args["site"] != view) {
    fail(ErrorKind::kInvalidArgument, "--view is {} but --site {}; leave one of them out", view,
         args["site"]);
  }
  check_map_args(args);
}

void check_translate(const Args& args) {
  if (args.has("INPUT") == args.has("text-file")) {
    fail(ErrorKind::kInvalidArgument,
         "translate takes a text, INPUT or --text-file, and was given {}; give one",
         args.has("INPUT") ? "both" : "neither");
  }
  for (const char* name : {"beam", "length-penalty", "most-tokens"}) {
    if (args.has(name) && args.has("target")) {
      fail(ErrorKind::kInvalidArgument,
           "--{} is for searching a translation but --target gives it; leave one of them out",
           name);
    }
  }
  if (shows_alignment(args)) {
    check_alignment(args);
  } else {
    check_maps_alone(args);
  }
}

TranslateOptions translate_options(const Args& args) {
  TranslateOptions options;
  if (args.has("target")) options.target = args["target"];
  if (args.has("beam")) options.beams = args.integer("beam");
  if (args.has("most-tokens")) options.most_tokens = args.integer("most-tokens");
  if (args.has("length-penalty")) options.length_penalty = args.real("length-penalty");
  return options;
}

// What the model's facts tell before it runs.
void check_translate_choice(const Args& args, const Engine& engine) {
  const SiteKind kind =
      args.has("site") ? chosen_site(args, engine, /*sees_picture=*/false) : site_kind_of(args);
  check_layer(args, engine, kind);
  check_head(args, engine, kind);
}

void run_translate(const Args& args) {
  check_translate(args);
  const GivenInput given = given_source(args);
  const Translator translator(
      open_engine(args, kDefaultTranslationModel),
      {.source = args.has("from") ? args["from"] : "", .target = args.has("to") ? args["to"] : ""});
  check_translate_choice(args, translator.engine());
  const Translation translation = translator.translate(source_text(given), translate_options(args),
                                                       {.record = {.block = args.flag("norms")}});
  print_warnings(translation.result.warnings);
  if (shows_alignment(args)) {
    show_alignment(translation, args);
  } else {
    show_run(translation.result.run, args, site_kind_of(args),
             translation_text(translation, stdout_terminal()));
  }
}

// Those of all verbs that show maps, with this verb's views.
std::vector<Option> verb_options() {
  std::vector<Option> maps = map_options();
  for (Option& option : maps) {
    if (option.name != "view") continue;
    std::vector<std::string> views = {"align", "encoder", "decoder", "cross"};
    views.insert(views.end(), option.choices.begin(), option.choices.end());
    option = Option::choice(
        "view", std::move(views),
        "the alignment, or the attention within the encoder, within the decoder or from the "
        "decoder to the source (default: align); matrix, read, reading, lines and heads are ways "
        "to draw what --site names");
  }
  const std::vector<Option> own = {
      Option::text("text-file", "FILE", "read the source from a file instead"),
      Option::text("target", "TEXT", "what the model is made to write, instead of searching"),
      Option::integer("beam", "N", "hypotheses that are followed; 1: greedy (default: the model's)",
                      1),
      Option::real("length-penalty", "P", "above 0 favours longer texts (default: the model's)",
                   -10),
      Option::integer("most-tokens", "N",
                      "where the search ends at the latest (default: the model's, or 256)", 1),
      Option::text("from", "CODE", "language of the source, of models that know several"),
      Option::text("to", "CODE", "language to translate into, of models that know several"),
      Option::flag("hard", "show the links alone"),
      Option::flag("pieces", "show tokens as the model has them instead of words"),
      Option::flag("moses", "print the links as 0-0 1-2, source word and target word")};
  return joined(joined(model_options(kDefaultTranslationModel), own),
                joined(align_options(), std::move(maps)));
}

}  // namespace

Command translate_command() {
  return {.name = "translate",
          .summary = "translate a text, and what each target word looked at in the source",
          .details =
              "Without --layer and --head the head is chosen whose attention lies on pairs of\n"
              "tokens that belong together by themselves and whose links are the same in\n"
              "either direction; the caption says which and why (docs/alignment.md).\n"
              "\n"
              "examples:\n"
              "  fovea translate \"The cat sat on the mat.\"\n"
              "  fovea translate \"The cat sat on the mat.\" --target \"Le chat dort.\"\n"
              "  fovea translate \"The cat sat on the mat.\" --moses\n"
              "  fovea translate \"The cat sat on the mat.\" --layer 2 --head mean --out map.png\n"
              "  fovea translate \"The cat sat on the mat.\" --view cross --layer all\n",
          .positionals = {input_positional()},
          .options = verb_options(),
          .run = run_translate};
}

}  // namespace fovea
