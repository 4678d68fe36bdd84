// nomic-bert (Nussbaum et al. 2024, arXiv:2402.01613): BERT with rotary positions and gated
// feed-forward parts.
#include "fovea/base/error.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_stack.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

constexpr Rename kNomicNames[] = {{"emb_ln", "embeddings.LayerNorm"}};

// The first files name sizes as GPT-2 does. What no file of the family has is refused.
Config nomic_config(const Config& config) {
  static constexpr std::pair<const char*, const char*> kOld[] = {
      {"hidden_size", "n_embd"},
      {"num_attention_heads", "n_head"},
      {"num_hidden_layers", "n_layer"},
      {"intermediate_size", "n_inner"},
      {"layer_norm_eps", "layer_norm_epsilon"},
      {"max_position_embeddings", "n_positions"},
      {"rope_theta", "rotary_emb_base"}};
  Json json = config.json();
  for (const auto& [wanted, old] : kOld) {
    const Json* value = json.find(old);
    if (json.find(wanted) == nullptr && value != nullptr) json.set(wanted, *value);
  }
  const Config read(std::move(json), config.source());
  const std::string activation = read.get_string("activation_function", "swiglu");
  const bool plain = !read.get_bool("prenorm", false) && !read.get_bool("qkv_proj_bias", false) &&
                     !read.get_bool("mlp_fc1_bias", false) &&
                     !read.get_bool("mlp_fc2_bias", false) &&
                     !read.get_bool("rotary_emb_interleaved", false) &&
                     read.get_double("rotary_emb_fraction", 1) == 1 && activation == "swiglu";
  if (!plain) {
    fail(ErrorKind::kUnsupported,
         "{}: has norms before its parts, biases, a part of each head that turns, or the "
         "activation {}; of nomic-bert fovea runs what nomic-embed-text is",
         config.source(), activation);
  }
  return read;
}

struct NomicParts {
  Config config;
  AttentionSizes sizes;
  double epsilon;

  explicit NomicParts(const Config& given)
      : config(nomic_config(given)),
        sizes(AttentionSizes::grouped_heads(config)),
        epsilon(config.get_double("layer_norm_eps", 1e-12)) {}

  PostNormBlock block(const LayerSource& source) const {
    const int64_t width = sizes.width, all = sizes.heads * sizes.head_dim;
    const int64_t inner = config.get_size("intermediate_size");
    const LayerSource part = source["mlp"];
    return {
        AttentionLayer(sizes, {load_linear(source["attn.Wqkv"], width, 3 * all, /*bias=*/false)},
                       load_linear(source["attn.out_proj"], all, width, /*bias=*/false)),
        Norm::layer(source["norm1"], width, epsilon),
        GatedFeedForward(load_linear(part["fc12"], width, inner, /*bias=*/false),
                         load_linear(part["fc11"], width, inner, /*bias=*/false),
                         load_linear(part["fc2"], inner, width, /*bias=*/false),
                         activation_named(config, "hidden_act", "silu")),
        Norm::layer(source["norm2"], width, epsilon)};
  }

  TextStack stack(const LayerSource& base) const {
    constexpr double kBase = 1000;
    std::vector<TextLayer> layers;
    for (int64_t i = 0; i < layer_count(config); ++i) {
      layers.push_back({block(base["encoder.layers"][i])});
    }
    return {{.scale = sizes.scale(),
             .causal = false,
             .rotary = {RotaryEmbedding::of(config, sizes.head_dim, kBase)}},
            std::move(layers)};
  }
};

class NomicBert final : public TextModel {
 public:
  explicit NomicBert(const ModelSource& source)
      : NomicBert(source, source.weights.renamed(kNomicNames), NomicParts(source.config)) {}

 private:
  NomicBert(const ModelSource& source, const LayerSource& all, const NomicParts& parts)
      : NomicBert(
            {parts.config, all}, parts,
            all.below_one_of({"nomic_bert.", "bert.", ""}, "embeddings.word_embeddings.weight")) {
    static_cast<void>(source);
  }

  NomicBert(const ModelSource& source, const NomicParts& parts, const LayerSource& base)
      : TextModel(source),
        words_(load_table(base["embeddings.word_embeddings"], parts.config.get_size("vocab_size"),
                          parts.sizes.width)),
        segments_(load_table(base["embeddings.token_type_embeddings"],
                             parts.config.get_size("type_vocab_size", 2), parts.sizes.width)),
        norm_(Norm::layer(base["embeddings.LayerNorm"], parts.sizes.width, parts.epsilon)),
        stack_(parts.stack(base)) {
    ModelFacts facts = text_facts(parts.sizes, stack_.layers(), words_.size(0), 0,
                                  /*causal=*/false);
    facts.main.rotary = true;
    facts.text->trained_tokens = parts.config.get_size("max_position_embeddings", 2048);
    facts.text->takes_segments = true;
    set_facts(facts);
    set_head(load_head(source, parts, base));
  }

  TextHead load_head(const ModelSource& source, const NomicParts& parts,
                     const LayerSource& base) const {
    const LayerSource& all = source.weights;
    const Config& config = parts.config;
    const int64_t width = parts.sizes.width;
    if (source.is("ForMaskedLM", "cls.predictions.transform.dense.weight") ||
        source.is("ForPreTraining", "")) {
      const LayerSource head = all["cls.predictions"];
      return word_head(
          HeadKind::kMaskedLm,
          WordScores(word_weights(config, head, {"decoder.weight"}, words_),
                     word_bias(config, head, words_.size(0)), all.compute),
          WordTransform(load_linear(head["transform.dense"], width, width),
                        activation_named(config, "hidden_act", "silu"),
                        Norm::layer(head["transform.layer_norm"], width, parts.epsilon)));
    }
    if (source.is("ForTokenClassification", "")) {
      return token_class_head(load_linear(all["classifier"], width, label_count(config)));
    }
    if (source.is("ForSequenceClassification", "classifier.weight")) {
      return first_token_class_head(config, base["pooler.dense"], Activation::kTanh,
                                    all["classifier"], width);
    }
    return {};
  }

  Value hidden(const ModelInputs& inputs, const Pass& pass) const override {
    const std::vector<int64_t> segments = inputs.token_type_ids.empty()
                                              ? std::vector<int64_t>(inputs.input_ids.size(), 0)
                                              : inputs.token_type_ids;
    const Value words = embed_words(pass, kInputsEmbeds, words_, inputs.input_ids);
    const Value x = norm_(ops::add(words, ops::embedding(segments_, segments)));
    return stack_(pass, x, inputs.attention_mask);
  }

  StoredMatrix words_, segments_;
  Norm norm_;
  TextStack stack_;
};

}  // namespace

Architecture nomic_bert_architecture() {
  return {.name = "nomic_bert",
          .covers = "nomic-bert, nomic-embed-text",
          .model_types = {"nomic_bert"},
          .not_needed = {"position_ids", "pooler", "inv_freq", "cls.predictions.decoder",
                         "cls.predictions.bias"},
          .build = &build_model<NomicBert>};
}

}  // namespace fovea
