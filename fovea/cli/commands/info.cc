#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "fovea/base/progress.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/check_maps.h"
#include "fovea/engine/model_info.h"

namespace fovea {
namespace {

std::string model_fact(std::string_view name, const std::string& value, const Terminal& terminal) {
  return fmt::format("{}{}\n", terminal.dim(fmt::format("{:<13}", name)), value);
}

// The first `most` of them.
std::string shortened(const std::vector<std::string>& names, size_t most) {
  const size_t shown = std::min(names.size(), most);
  return fmt::format("{}{}", fmt::join(std::span(names).first(shown), ", "),
                     shown < names.size() ? fmt::format(", … ({} in all)", names.size()) : "");
}

std::string object_facts_text(const ModelFacts& facts, const Terminal& terminal) {
  std::string text =
      model_fact("decoder",
                 fmt::format("{} layers x {} heads of {} object queries, each with "
                             "cross-attention",
                             facts.decoder_layers, facts.decoder_heads, facts.object_queries),
                 terminal);
  text += model_fact("picture",
                     fmt::format("any size, in cells of {0} x {0} pixels", facts.feature_stride),
                     terminal);
  if (facts.has_mask_head) text += model_fact("masks", "by attention to the cells", terminal);
  return text;
}

std::string picture_facts_text(const ModelFacts& facts, const Terminal& terminal) {
  if (facts.finds_objects()) return object_facts_text(facts, terminal);
  std::string picture =
      fmt::format("{} x {} pixels in {} x {} patches of {} x {}", facts.image_width,
                  facts.image_height, facts.image_width / facts.patch_width,
                  facts.image_height / facts.patch_height, facts.patch_width, facts.patch_height);
  picture += facts.any_image_size ? ", other sizes too" : ", no other size";
  if (!facts.front_tokens.empty()) {
    picture += fmt::format("; before them {}", fmt::join(facts.front_tokens, " "));
  }
  std::string text = model_fact("picture", picture, terminal);
  if (facts.pools_by_attention)
    text += model_fact("pooling", "by attention to the patches", terminal);
  if (facts.has_text_tower()) {
    text += model_fact(
        "text tower",
        fmt::format("{} layers x {} heads, {}, width {}, vocabulary {}", facts.text_layers,
                    facts.text_heads, facts.causal ? "causal" : "both ways", facts.text_width,
                    facts.vocabulary),
        terminal);
  }
  return text;
}

std::string info_text(const ModelInfo& info, const Terminal& terminal) {
  const ModelFacts& facts = info.facts;
  std::string text = model_fact("model", printable(info.name), terminal);
  text += model_fact("folder", printable(info.folder), terminal);
  text +=
      model_fact("architecture", fmt::format("{} ({})", info.model_type, info.covers), terminal);
  std::string heads =
      fmt::format("{} layers x {} heads of {}", facts.layers, facts.heads, facts.head_dim);
  if (facts.kv_heads != facts.heads) heads += fmt::format(", {} key heads", facts.kv_heads);
  const bool encoder = facts.has_decoder() || facts.finds_objects();
  const std::string stack = encoder ? "encoder" : "attention";
  const bool causal = facts.causal && !facts.takes_pixels;
  text += model_fact(stack, heads + (causal ? ", causal" : ", both ways"), terminal);
  if (facts.has_decoder()) {
    text += model_fact("decoder",
                       fmt::format("{} layers x {} heads, causal, each with cross-attention",
                                   facts.decoder_layers, facts.decoder_heads),
                       terminal);
  }
  if (facts.takes_pixels) text += picture_facts_text(facts, terminal);
  std::string words = fmt::format("{}, vocabulary {}", facts.width, facts.vocabulary);
  if (facts.takes_features) {
    words = fmt::format("{}, vocabulary {}", facts.width, facts.target_vocabulary);
  } else if (facts.has_decoder() && facts.target_vocabulary != facts.vocabulary) {
    words += fmt::format(" and {} of the target", facts.target_vocabulary);
  }
  if (facts.takes_pixels) words = fmt::format("{}", facts.width);
  text += model_fact("width", words, terminal);
  if (facts.takes_text() || facts.takes_features) {
    text += model_fact(
        "positions",
        facts.most_tokens > 0      ? fmt::format("{} at most (a table)", facts.most_tokens)
        : facts.trained_tokens > 0 ? fmt::format("no limit, trained on {}", facts.trained_tokens)
                                   : "no limit",
        terminal);
  }
  text += model_fact("head", std::string(name_of(facts.head)), terminal);
  if (!info.labels.empty()) {
    text += model_fact("labels", printable(shortened(info.labels, 12)), terminal);
  }
  text += model_fact("weights",
                     fmt::format("{} in {} tensors ({}), {}", info.parameters, info.tensors,
                                 fmt::join(info.stored_as, ", "), format_bytes(info.file_bytes)),
                     terminal);
  text += model_fact("tokenizer", info.tokenizer, terminal);
  text += model_fact("hash", info.hash, terminal);
  if (!info.unread.empty()) {
    text += model_fact("not read",
                       printable(fmt::format("{} tensors that this architecture does not know: {}",
                                             info.unread.size(), shortened(info.unread, 4))),
                       terminal);
  }
  return text;
}

std::string info_text(const MapCheck& check, const Terminal& terminal) {
  return model_fact(
      "check",
      fmt::format("{} maps of {} tokens: row sums within {:.1e} of 1, A·V within {:.1e} of "
                  "the layer's own output ({})",
                  check.maps, check.tokens, check.row_sum_error, check.output_error,
                  check.passed() ? "good" : "BAD"),
      terminal);
}

void run_info(const Args& args) {
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
    write_stdout(info_text(info, terminal) + (check ? info_text(*check, terminal) : ""));
  }
  if (check) require_passed(*check);
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "what a model is, and whether its maps check out",
          .details =
              "--check runs a sentence through the model, or a made-up picture, and tests every\n"
              "map: each row must sum to 1, and the map times the values must be what the layer\n"
              "itself computed.\n"
              "\n"
              "example:\n"
              "  fovea info -m bert-base-uncased --check\n",
          .options = joined(model_options(kDefaultTextModel),
                            {Option::flag("check", "test every map of a sentence"),
                             Option::flag("json", "print it as JSON")}),
          .run = run_info};
}

}  // namespace fovea
