#include "fovea/base/error.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/model_tokenizer.h"

namespace fovea {
namespace {

Json encoding_json(const Encoding& encoding) {
  Json json = Json::object();
  json.set("ids", Json::array_of(std::vector<int64_t>(encoding.ids.begin(), encoding.ids.end())));
  Json tokens = Json::array(), offsets = Json::array(), special = Json::array();
  for (size_t i = 0; i < encoding.size(); ++i) {
    tokens.push_back(encoding.tokens[i]);
    offsets.push_back(Json(Json::Array{Json(static_cast<int64_t>(encoding.offsets[i].begin)),
                                       Json(static_cast<int64_t>(encoding.offsets[i].end))}));
    special.push_back(Json(bool{encoding.special[i]}));
  }
  json.set("tokens", std::move(tokens));
  json.set("offsets", std::move(offsets));
  json.set("type_ids", Json::array_of(std::vector<int64_t>(encoding.type_ids.begin(),
                                                           encoding.type_ids.end())));
  json.set("special", std::move(special));
  return json;
}

// One line per token: place, id, display form, bytes of the source.
std::string encoding_text(const Tokenizer& tokenizer, const Encoding& encoding,
                          const Terminal& terminal) {
  std::string text =
      terminal.dim(fmt::format("{:>6}  {:>8}  {:>11}  {}\n", "", "id", "bytes", "token"));
  size_t index = 0;
  for (const ShownToken& token : tokenizer.show(encoding)) {
    const std::string span =
        token.sequence < 0 ? "–" : fmt::format("{}–{}", token.span.begin, token.span.end);
    std::string shown = isolated(printable(token.info.display));
    if (!token.glyph.empty()) {
      shown += fmt::format("  ({} of {} of {})", token.part, token.parts,
                           isolated(printable(token.glyph)));
    }
    if (token.sequence < 0) shown = terminal.dim(shown);
    text += fmt::format("{:>6}  {:>8}  {}  {}\n", index, encoding.ids[index], padded_left(span, 11),
                        shown);
    ++index;
  }
  return text;
}

void run_tokenize(const Args& args) {
  if (args.has("INPUT") == args.has("text-file")) {
    fail(ErrorKind::kInvalidArgument, "{} of INPUT and --text-file are given; give exactly one",
         args.has("INPUT") ? 2 : 0);
  }
  const std::string text = source_text(given_source(args));
  const std::string name = model_name(args, kDefaultTextModel);
  const Tokenizer tokenizer =
      args.flag("target-side") ? target_tokenizer_named(name) : tokenizer_named(name);
  const Encoding encoding =
      args.has("pair") ? tokenizer.encode_pair(text, args["pair"]) : tokenizer.encode(text);
  if (encoding.invalid_bytes > 0) {
    print_warnings({fmt::format("{} bytes are no UTF-8 (the first at {}); each is read as U+FFFD",
                                encoding.invalid_bytes, encoding.first_invalid)});
  }
  write_stdout(args.flag("json") ? encoding_json(encoding).dump() + "\n"
                                 : encoding_text(tokenizer, encoding, stdout_terminal()));
}

}  // namespace

Command tokenize_command() {
  return {
      .name = "tokenize",
      .summary = "a text as a model's tokens, with their places in it",
      .details =
          "Works on folders that hold nothing but tokenizer files. Offsets are bytes of the\n"
          "UTF-8 text.\n"
          "\n"
          "example:\n"
          "  fovea tokenize \"Tokenizers split unbelievable words.\"\n",
      .positionals = {input_positional()},
      .options = {Option::text("model", "NAME",
                               fmt::format("whose tokenizer (default: {})", kDefaultTextModel))
                      .with_letter('m'),
                  Option::text("text-file", "FILE", "read the text from a file instead"),
                  Option::text("pair", "TEXT", "a second text"),
                  Option::flag("target-side", "the tokenizer of what a translation model writes"),
                  Option::flag("json",
                               "print {\"ids\",\"tokens\",\"offsets\",\"type_ids\",\"special\"}")},
      .run = run_tokenize};
}

}  // namespace fovea
