#include <fmt/ranges.h>

#include "fovea/base/progress.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/check_maps.h"
#include "fovea/engine/model_info.h"

namespace fovea {
namespace {

std::string fact(std::string_view name, const std::string& value, const Terminal& terminal) {
  return fmt::format("{}{}\n", terminal.dim(fmt::format("{:<13}", name)), value);
}

std::string to_text(const ModelInfo& info, const Terminal& terminal) {
  const ModelFacts& facts = info.facts;
  std::string text = fact("model", printable(info.name), terminal);
  text += fact("folder", printable(info.folder), terminal);
  text += fact("architecture", fmt::format("{} ({})", info.model_type, info.covers), terminal);
  std::string heads =
      fmt::format("{} layers x {} heads of {}", facts.layers, facts.heads, facts.head_dim);
  if (facts.kv_heads != facts.heads) heads += fmt::format(", {} key heads", facts.kv_heads);
  const std::string stack = facts.has_decoder() ? "encoder" : "attention";
  text += fact(stack, heads + (facts.causal ? ", causal" : ", both ways"), terminal);
  if (facts.has_decoder()) {
    text += fact("decoder",
                 fmt::format("{} layers x {} heads, causal, each with cross-attention",
                             facts.decoder_layers, facts.decoder_heads),
                 terminal);
  }
  std::string words = fmt::format("{}, vocabulary {}", facts.width, facts.vocabulary);
  if (facts.takes_features) {
    words = fmt::format("{}, vocabulary {}", facts.width, facts.target_vocabulary);
  } else if (facts.has_decoder() && facts.target_vocabulary != facts.vocabulary) {
    words += fmt::format(" and {} of the target", facts.target_vocabulary);
  }
  text += fact("width", words, terminal);
  text +=
      fact("positions",
           facts.most_tokens > 0      ? fmt::format("{} at most (a table)", facts.most_tokens)
           : facts.trained_tokens > 0 ? fmt::format("no limit, trained on {}", facts.trained_tokens)
                                      : "no limit",
           terminal);
  text += fact("head", std::string(name_of(facts.head)), terminal);
  if (!info.labels.empty()) {
    text += fact("labels", printable(fmt::format("{}", fmt::join(info.labels, ", "))), terminal);
  }
  text += fact("weights",
               fmt::format("{} in {} tensors ({}), {}", info.parameters, info.tensors,
                           fmt::join(info.stored_as, ", "), format_bytes(info.file_bytes)),
               terminal);
  text += fact("tokenizer", info.tokenizer, terminal);
  text += fact("hash", info.hash, terminal);
  if (!info.unread.empty()) {
    text += fact("not read",
                 printable(fmt::format(
                     "{} tensors that this architecture does not know: {}{}", info.unread.size(),
                     fmt::join(info.unread.begin(),
                               info.unread.begin() + static_cast<std::ptrdiff_t>(
                                                         std::min<size_t>(info.unread.size(), 4)),
                               ", "),
                     info.unread.size() > 4 ? ", …" : "")),
                 terminal);
  }
  return text;
}

std::string to_text(const MapCheck& check, const Terminal& terminal) {
  return fact("check",
              fmt::format("{} maps of {} tokens: row sums within {:.1e} of 1, A·V within {:.1e} of "
                          "the layer's own output ({})",
                          check.maps, check.tokens, check.row_sum_error, check.output_error,
                          check.passed() ? "good" : "BAD"),
              terminal);
}

void run(const Args& args) {
  const Engine engine = open_engine(args, kDefaultTextModel);
  const ModelInfo info = model_info(engine);
  std::optional<MapCheck> check;
  if (args.flag("check")) check = check_maps(engine, check_input(engine));
  if (args.flag("json")) {
    Json json = to_json(info);
    if (check) json.set("check", to_json(*check));
    write_stdout(json.dump(1) + "\n");
  } else {
    const Terminal terminal = stdout_terminal();
    write_stdout(to_text(info, terminal) + (check ? to_text(*check, terminal) : ""));
  }
  if (check) require_passed(*check);
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "what a model is, and whether its maps check out",
          .details =
              "--check runs a sentence through the model and tests every map: each row must sum\n"
              "to 1, and the map times the values must be what the layer itself computed.\n"
              "\n"
              "example:\n"
              "  fovea info -m bert-base-uncased --check\n",
          .options = joined(model_options(kDefaultTextModel),
                            {Option::flag("check", "test every map of a sentence"),
                             Option::flag("json", "print it as JSON")}),
          .run = run};
}

}  // namespace fovea
