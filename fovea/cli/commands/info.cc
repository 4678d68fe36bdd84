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
                             facts.decoder->layers, facts.decoder->heads, facts.objects->queries),
                 terminal);
  text += model_fact("picture",
                     fmt::format("any size, in cells of {0} x {0} pixels", facts.objects->stride),
                     terminal);
  if (facts.has_mask_head()) text += model_fact("masks", "by attention to the cells", terminal);
  return text;
}

std::string picture_facts_text(const ModelFacts& facts, const Terminal& terminal) {
  if (facts.finds_objects()) return object_facts_text(facts, terminal);
  const PictureFacts& picture = *facts.picture;
  std::string sizes = fmt::format(
      "{} x {} pixels in {} x {} patches of {} x {}", picture.image_width, picture.image_height,
      picture.image_width / picture.patch_width, picture.image_height / picture.patch_height,
      picture.patch_width, picture.patch_height);
  sizes += picture.any_size ? ", other sizes too" : ", no other size";
  if (!picture.front_tokens.empty()) {
    sizes += fmt::format("; before them {}", fmt::join(picture.front_tokens, " "));
  }
  std::string text = model_fact("picture", sizes, terminal);
  if (picture.pools_by_attention)
    text += model_fact("pooling", "by attention to the patches", terminal);
  if (const auto& tower = facts.text_tower) {
    text +=
        model_fact("text tower",
                   fmt::format("{} layers x {} heads, {}, width {}, vocabulary {}", tower->layers,
                               tower->heads, tower->causal ? "causal" : "both ways", tower->width,
                               facts.text->vocabulary),
                   terminal);
  }
  return text;
}

// The width and the vocabulary. A text tower's vocabulary stands beside the tower.
std::string width_text(const ModelFacts& facts) {
  const std::string width = std::to_string(facts.main.width);
  if (facts.takes_pixels()) return width;
  if (!facts.text) return fmt::format("{}, vocabulary {}", width, facts.target->vocabulary);
  std::string text = fmt::format("{}, vocabulary {}", width, facts.text->vocabulary);
  if (facts.target && facts.target->vocabulary != facts.text->vocabulary) {
    text += fmt::format(" and {} of the target", facts.target->vocabulary);
  }
  return text;
}

// How many positions a model of texts or sound takes at most.
std::string positions_limit_text(const ModelFacts& facts) {
  const int64_t most = facts.most_positions();
  if (most > 0) return fmt::format("{} at most (a table)", most);
  const int64_t trained = facts.text->trained_tokens;
  return trained > 0 ? fmt::format("no limit, trained on {}", trained) : "no limit";
}

std::string info_text(const ModelInfo& info, const Terminal& terminal) {
  const ModelFacts& facts = info.facts;
  const StackFacts& main = facts.main;
  std::string text = model_fact("model", printable(info.name), terminal);
  text += model_fact("folder", printable(info.folder), terminal);
  text +=
      model_fact("architecture", fmt::format("{} ({})", info.model_type, info.covers), terminal);
  std::string heads =
      fmt::format("{} layers x {} heads of {}", main.layers, main.heads, main.head_dim);
  if (main.kv_heads != main.heads) heads += fmt::format(", {} key heads", main.kv_heads);
  const bool encoder = facts.has_decoder() || facts.finds_objects();
  const std::string stack = encoder ? "encoder" : "attention";
  text += model_fact(stack, heads + (main.causal ? ", causal" : ", both ways"), terminal);
  if (facts.has_decoder()) {
    text += model_fact("decoder",
                       fmt::format("{} layers x {} heads, causal, each with cross-attention",
                                   facts.decoder->layers, facts.decoder->heads),
                       terminal);
  }
  if (facts.takes_pixels()) text += picture_facts_text(facts, terminal);
  text += model_fact("width", width_text(facts), terminal);
  if (facts.takes_text() || facts.takes_features()) {
    text += model_fact("positions", positions_limit_text(facts), terminal);
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
