// DeBERTa (He et al. 2021, arXiv:2006.03654): every distance has an entry of its own.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/deberta_model.h"

namespace fovea {
namespace {

constexpr Rename kDebertaOldNames[] = {{"LayerNorm.gamma", "LayerNorm.weight"},
                                       {"LayerNorm.beta", "LayerNorm.bias"}};

// One matrix gives q, k and v head by head; q and v have a bias of their own.
ops::Linear load_joined(const LayerSource& source, const AttentionSizes& sizes) {
  const int64_t width = sizes.width, dim = sizes.head_dim;
  const Tensor query = load_vector(source, "q_bias", width);
  const Tensor value = load_vector(source, "v_bias", width);
  Tensor bias({3 * width});
  for (int64_t head = 0; head < sizes.heads; ++head) {
    float* to = bias.mutable_values<float>().data() + head * 3 * dim;
    std::copy_n(query.values<float>().data() + head * dim, dim, to);
    std::copy_n(value.values<float>().data() + head * dim, dim, to + 2 * dim);
  }
  return ops::Linear(source["in_proj"].weights.matrix("weight", {3 * width, width}), bias,
                     source.compute);
}

DebertaLayer load_deberta_layer(const LayerSource& source, const Config& config,
                                const DebertaParts& parts) {
  const AttentionSizes& sizes = parts.sizes;
  const int64_t width = sizes.width;
  const LayerSource own = source["attention.self"];
  AttentionLayer attention(sizes, {load_joined(own, sizes)},
                           load_linear(source["attention.output.dense"], width, width));
  attention.set_grouped_projection();
  std::optional<DisentangledBias> bias;
  const DisentangledTerms terms = DisentangledTerms::of(config);
  if (parts.positions && terms.count() > 0) {
    std::optional<ops::Linear> keys, queries;
    if (terms.content_to_position) {
      keys = load_linear(own["pos_proj"], width, width, /*bias=*/false);
    }
    if (terms.position_to_content) queries = load_linear(own["pos_q_proj"], width, width);
    bias.emplace(sizes.heads, std::move(keys), std::move(queries));
  }
  return {load_deberta_block(source, config, parts, std::move(attention)), std::move(bias)};
}

std::unique_ptr<Model> build_deberta(const ModelSource& given) {
  const ModelSource source{given.config, given.weights.renamed(kDebertaOldNames)};
  const Config& config = source.config;
  if (config.get_bool("talking_head", false)) {
    fail(ErrorKind::kUnsupported,
         "{}: talking_head is true: heads mix their scores, so that no head has a map of its own",
         config.source());
  }
  const LayerSource base =
      source.weights.below_one_of({"deberta.", ""}, "embeddings.word_embeddings.weight");
  const LayerSource encoder = base["encoder"];
  DebertaParts parts = deberta_parts(config);
  if (config.get_bool("relative_attention", false)) {
    parts.positions.emplace(encoder["rel_embeddings"], parts.sizes.width, /*buckets=*/0,
                            farthest_distance(config), std::nullopt);
  }
  for (int64_t i = 0; i < layer_count(config); ++i) {
    parts.layers.push_back(load_deberta_layer(encoder["layer"][i], config, parts));
  }
  return deberta_model(source, base, std::move(parts));
}

}  // namespace

Architecture deberta_architecture() {
  return {.name = "deberta",
          .covers = "DeBERTa (the first)",
          .model_types = {"deberta"},
          .not_needed = {"position_ids", "position_embeddings", "pooler", "cls", "lm_predictions",
                         "mask_predictions"},
          .build = build_deberta};
}

}  // namespace fovea
