// DeBERTa versions 2 and 3 (He et al. 2021, arXiv:2111.09543): far distances share an entry,
// distances may be projected as content is, and a convolution may stand beside the first layer.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/deberta_model.h"

namespace fovea {
namespace {

bool has_norm_of_distances(const Config& config) {
  return config.get_string("norm_rel_ebd", "none").find("layer_norm") != std::string::npos;
}

DebertaLayer load_deberta_v2_layer(const LayerSource& source, const Config& config,
                                   const DebertaParts& parts) {
  const AttentionSizes& sizes = parts.sizes;
  const int64_t width = sizes.width;
  const LayerSource own = source["attention.self"];
  const auto linear = [&](std::string_view name) { return load_linear(own[name], width, width); };
  std::vector<ops::Linear> projections{linear("query_proj"), linear("key_proj"),
                                       linear("value_proj")};
  std::optional<DisentangledBias> bias;
  const DisentangledTerms terms = DisentangledTerms::of(config);
  if (parts.positions && terms.count() > 0) {
    const bool shared = config.get_bool("share_att_key", false);
    std::optional<ops::Linear> keys, queries;
    if (terms.content_to_position) keys = shared ? projections[1] : linear("pos_key_proj");
    if (terms.position_to_content) queries = shared ? projections[0] : linear("pos_query_proj");
    bias.emplace(sizes.heads, std::move(keys), std::move(queries));
  }
  return {load_deberta_block(
              source, config, parts,
              AttentionLayer(sizes, std::move(projections),
                             load_linear(source["attention.output.dense"], width, width))),
          std::move(bias)};
}

std::unique_ptr<Model> build_deberta_v2(const ModelSource& source) {
  const Config& config = source.config;
  const LayerSource base =
      source.weights.below_one_of({"deberta.", ""}, "embeddings.word_embeddings.weight");
  const LayerSource encoder = base["encoder"];
  DebertaParts parts = deberta_parts(config);
  const int64_t width = parts.sizes.width;
  if (config.has("attention_head_size") &&
      config.get_size("attention_head_size") != parts.sizes.head_dim) {
    fail(ErrorKind::kUnsupported,
         "{}: attention_head_size is {} but the heads divide the width into {}; fovea runs the "
         "latter",
         config.source(), config.get_size("attention_head_size"), parts.sizes.head_dim);
  }
  if (config.get_bool("relative_attention", false)) {
    std::optional<Norm> norm;
    if (has_norm_of_distances(config)) {
      norm = Norm::layer(encoder["LayerNorm"], width, parts.epsilon);
    }
    const int64_t buckets = std::max<int64_t>(config.get_int("position_buckets", -1), 0);
    const int64_t farthest = farthest_distance(config);
    if (buckets > 0 && (buckets < 4 || farthest - 1 <= buckets / 2)) {
      fail(ErrorKind::kBadFile,
           "{}: position_buckets is {} for distances up to {}; there must be at least 4, and half "
           "of them fewer than distances",
           config.source(), buckets, farthest);
    }
    parts.positions.emplace(encoder["rel_embeddings"], width, buckets, farthest, std::move(norm));
  }
  for (int64_t i = 0; i < layer_count(config); ++i) {
    parts.layers.push_back(load_deberta_v2_layer(encoder["layer"][i], config, parts));
  }
  if (config.get_int("conv_kernel_size", 0) > 0) {
    parts.convolution.emplace(encoder["conv"], config, width, parts.epsilon);
  }
  return deberta_model(source, base, std::move(parts));
}

}  // namespace

Architecture deberta_v2_architecture() {
  return {.name = "deberta_v2",
          .covers = "DeBERTa v2 and v3, mDeBERTa",
          .model_types = {"deberta-v2"},
          .not_needed = {"position_ids", "position_embeddings", "pooler", "cls", "lm_predictions",
                         "mask_predictions", "rel_embeddings", "encoder.LayerNorm"},
          .build = build_deberta_v2};
}

}  // namespace fovea
