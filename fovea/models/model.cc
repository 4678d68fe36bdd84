#include "fovea/models/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/layers/attention_layer.h"

namespace fovea {
namespace {

// Whether `part` stands in `name` between dots or at an end.
bool has_part(std::string_view name, std::string_view part) {
  for (size_t at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

// Models whose queries each read a few points between cells, where they choose to look.
constexpr std::array<std::string_view, 11> kDeformable{
    "deformable_detr", "deta",   "rt_detr",        "rt_detr_v2",        "d_fine",     "lw_detr",
    "rf_detr",         "deimv2", "grounding-dino", "mm-grounding-dino", "omdet-turbo"};

}  // namespace

std::string_view name_of(HeadKind kind) {
  switch (kind) {
    case HeadKind::kMaskedLm:
      return "masked words";
    case HeadKind::kCausalLm:
      return "next word";
    case HeadKind::kSequenceClass:
      return "classes of the text";
    case HeadKind::kTokenClass:
      return "classes of each token";
    case HeadKind::kTargetWords:
      return "next word of the target";
    case HeadKind::kPictureClass:
      return "classes of the picture";
    case HeadKind::kSimilarity:
      return "similarity of picture and text";
    case HeadKind::kObjects:
      return "objects and their boxes";
    case HeadKind::kNone:
      break;
  }
  return "none";
}

StackFacts stack_facts(const AttentionSizes& sizes, int64_t layers) {
  return {.layers = layers,
          .heads = sizes.heads,
          .kv_heads = sizes.kv_heads,
          .head_dim = sizes.head_dim,
          .width = sizes.width};
}

bool ModelSource::is(std::string_view suffix, std::string_view probe) const {
  const std::vector<std::string> names = config.get_strings("architectures");
  if (names.empty()) return weights.weights.has(probe);
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return name.ends_with(suffix); });
}

Architecture architecture_named(const Config& config) {
  const std::string& type = config.model_type();
  if (std::ranges::find(kDeformable, type) != kDeformable.end()) {
    fail(ErrorKind::kUnsupported,
         "{}: model_type is '{}', whose attention reads a few sampled points and has no dense map "
         "to show; take a DETR (model_type 'detr')",
         config.source(), type);
  }
  std::vector<std::string> known;
  for (Architecture& architecture : all_architectures()) {
    if (std::ranges::find(architecture.model_types, type) != architecture.model_types.end()) {
      return std::move(architecture);
    }
    known.insert(known.end(), architecture.model_types.begin(), architecture.model_types.end());
  }
  fail(ErrorKind::kUnsupported, "{}: model_type is '{}', which fovea does not know; it knows {}",
       config.source(), type, fmt::join(known, ", "));
}

std::vector<std::string> unknown_weights(const Architecture& architecture, const Weights& weights) {
  std::vector<std::string> names = weights.unused();
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::any_of(architecture.not_needed,
                               [&](const std::string& part) { return has_part(name, part); });
  });
  return names;
}

int64_t last_real_token(const Config& config, const ModelInputs& inputs) {
  const int64_t last = inputs.tokens() - 1;
  if (!config.has("pad_token_id")) return last;
  const int64_t pad = config.get_int("pad_token_id");
  for (int64_t i = last; i > 0; --i) {
    if (inputs.input_ids[static_cast<size_t>(i)] != pad) return i;
  }
  return 0;
}

int64_t label_count(const Config& config) {
  const auto labels = config.get_string_map("id2label");
  // Early versions of transformers wrote two placeholders whatever num_labels was.
  const bool named = std::ranges::any_of(
      labels, [](const auto& label) { return !label.second.starts_with("LABEL_"); });
  if (!labels.empty() && (named || !config.has("num_labels"))) {
    return static_cast<int64_t>(labels.size());
  }
  return config.get_size("num_labels", 2);
}

}  // namespace fovea
