// Whisper (Radford et al. 2022, arXiv:2212.04356): two convolutions turn sound into positions, the
// rest is BART with the norms first. OpenAI's own files are read too, under the names below.
#include <array>

#include "fovea/base/error.h"
#include "fovea/layers/bart_stack.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/seq2seq_model.h"
#include "fovea/models/text_model.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"

namespace fovea {
namespace {

constexpr int64_t kFramesPerPosition = 2;
constexpr double kSecondsPerFrame = 0.01;

constexpr std::array<Rename, 19> kOpenAiNames{{
    {"blocks", "layers"},
    {"attn.query", "self_attn.q_proj"},
    {"attn.key", "self_attn.k_proj"},
    {"attn.value", "self_attn.v_proj"},
    {"attn.out", "self_attn.out_proj"},
    {"attn_ln", "self_attn_layer_norm"},
    {"cross_attn.query", "encoder_attn.q_proj"},
    {"cross_attn.key", "encoder_attn.k_proj"},
    {"cross_attn.value", "encoder_attn.v_proj"},
    {"cross_attn.out", "encoder_attn.out_proj"},
    {"cross_attn_ln", "encoder_attn_layer_norm"},
    {"mlp.0", "fc1"},
    {"mlp.2", "fc2"},
    {"mlp_ln", "final_layer_norm"},
    {"encoder.ln_post", "encoder.layer_norm"},
    {"decoder.ln", "decoder.layer_norm"},
    {"encoder.positional_embedding", "encoder.embed_positions.weight"},
    {"decoder.positional_embedding", "decoder.embed_positions.weight"},
    {"decoder.token_embedding", "decoder.embed_tokens"},
}};

// A convolution over time, three frames wide: [1, channels, 1, frames] in and out.
ops::Conv2d load_conv(const LayerSource& source, int64_t in, int64_t out, int64_t stride) {
  return {source.weights.tensor("weight", {out, in, 3}).reshaped({out, in, 1, 3}),
          load_vector(source, "bias", out),
          {.stride = {1, stride}, .padding = {0, 1}}};
}

class Whisper final : public Seq2SeqModel {
 public:
  explicit Whisper(const ModelSource& source)
      : Whisper(source,
                source.weights.renamed(kOpenAiNames)
                    .below_one_of({"model.", ""}, "encoder.layers.0.self_attn.q_proj.weight")) {}

 private:
  Whisper(const ModelSource& source, const LayerSource& base)
      : Seq2SeqModel(source),
        encoder_(base["encoder"], source.config, kOptions),
        decoder_(base["decoder"], source.config, kOptions),
        bands_(source.config.get_size("num_mel_bins", 80)),
        conv1_(load_conv(base["encoder.conv1"], bands_, encoder_.sizes().width, 1)),
        conv2_(load_conv(base["encoder.conv2"], encoder_.sizes().width, encoder_.sizes().width,
                         kFramesPerPosition)),
        source_positions_(base["encoder.embed_positions"].weights.tensor(
            "weight",
            {source.config.get_size("max_source_positions", 1500), encoder_.sizes().width},
            DType::kF32)),
        target_{.words = load_table(base["decoder.embed_tokens"],
                                    source.config.get_size("vocab_size"), decoder_.sizes().width),
                .positions = load_table(base["decoder.embed_positions"],
                                        source.config.get_size("max_target_positions", 448),
                                        decoder_.sizes().width)} {
    ModelFacts facts =
        two_stack_facts(encoder_.sizes(), encoder_.layers(), decoder_.sizes(), decoder_.layers());
    facts.sound = SoundFacts{.positions = source_positions_.size(0),
                             .seconds_per_position = kFramesPerPosition * kSecondsPerFrame};
    facts.target =
        TextFacts{.vocabulary = target_.words.size(0), .most_tokens = target_.positions.size(0)};
    set_facts(facts);
    if (!source.is("WhisperModel", "")) {
      set_word_scores(
          {word_weights(source.config, source.weights, {"proj_out.weight"}, target_.words),
           Tensor(), base.compute});
    }
  }

  static constexpr BartBlockOptions kOptions{.norm_first = true, .key_bias = false};

  void check_features(const Tensor& features) const {
    const Shape wanted{bands_, kFramesPerPosition * source_positions_.size(0)};
    if (features.empty()) {
      fail(ErrorKind::kInvalidArgument,
           "this model hears sound and needs input_features {}; give them in a file",
           to_string(wanted));
    }
    if (!(features.shape() == wanted)) {
      fail(ErrorKind::kInvalidArgument,
           "input_features is {} but this model takes {} mel bands and frames ({}); fill the sound "
           "up with silence or cut it",
           to_string(features.shape()), to_string(wanted), config().source());
    }
  }

  Value encoder_states(const ModelInputs& inputs, const Pass& pass) const override {
    check_features(inputs.input_features);
    const Shape& shape = inputs.input_features.shape();
    Value x = ops::reshape(numeric_input(pass, kInputFeatures, inputs.input_features),
                           {1, shape[0], 1, shape[1]});
    x = ops::activation(conv1_(x), Activation::kGelu);
    x = ops::activation(conv2_(x), Activation::kGelu);
    x = ops::transpose(ops::reshape(x, {encoder_.sizes().width, source_positions_.size(0)}), 0, 1);
    return encoder_(pass, ops::add(x, source_positions_), {});
  }

  Value decoder_states(const EncodedSource& source, std::span<const int64_t> ids,
                       std::span<const int64_t> attention_mask, const Pass& pass) const override {
    const auto count = static_cast<int64_t>(ids.size());
    return decoder_(pass, target_(pass, kDecoderInputsEmbeds, ids, token_positions(pass, count)),
                    source, attention_mask);
  }

  BartEncoder encoder_;
  BartDecoder decoder_;
  int64_t bands_;
  ops::Conv2d conv1_, conv2_;
  Tensor source_positions_;
  BartEmbeddings target_;
};

}  // namespace

Architecture whisper_architecture() {
  return {.name = "whisper",
          .covers = "Whisper, also as OpenAI stores it",
          .model_types = {"whisper"},
          .not_needed = {"proj_out"},
          .build = &build_model<Whisper>};
}

}  // namespace fovea
