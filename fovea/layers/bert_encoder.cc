#include "fovea/layers/bert_encoder.h"

#include "fovea/base/error.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/run_block.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/embedding.h"

namespace fovea {
namespace {

void check_supported(const Config& config) {
  const std::string positions = config.get_string("position_embedding_type", "absolute");
  if (positions != "absolute") {
    fail(ErrorKind::kUnsupported,
         "{}: position_embedding_type is '{}', which fovea does not have; it has absolute",
         config.source(), positions);
  }
  if (config.get_bool("add_cross_attention", false)) {
    fail(ErrorKind::kUnsupported,
         "{}: add_cross_attention is true, the decoder of a pair of models; open the encoder alone",
         config.source());
  }
}

PostNormBlock load_bert_block(const LayerSource& source, const Config& config,
                              const AttentionSizes& sizes) {
  const int64_t width = sizes.width, inner = config.get_size("intermediate_size");
  const double epsilon = config.get_double("layer_norm_eps", 1e-12);
  const LayerSource attention = source["attention"];
  return {AttentionLayer(sizes,
                         {load_linear(attention["self"]["query"], width, width),
                          load_linear(attention["self"]["key"], width, width),
                          load_linear(attention["self"]["value"], width, width)},
                         load_linear(attention["output"]["dense"], width, width)),
          Norm::layer(attention["output"]["LayerNorm"], width, epsilon),
          FeedForward(load_linear(source["intermediate"]["dense"], width, inner),
                      load_linear(source["output"]["dense"], inner, width),
                      activation_named(config, "hidden_act", "gelu")),
          Norm::layer(source["output"]["LayerNorm"], width, epsilon)};
}

}  // namespace

BertEmbeddings::BertEmbeddings(const LayerSource& source, const Config& config, int64_t width)
    : words_(load_table(source["word_embeddings"], config.get_size("vocab_size"), width)),
      positions_(load_table(source["position_embeddings"],
                            config.get_size("max_position_embeddings"), width)),
      segments_(load_table(source["token_type_embeddings"], config.get_size("type_vocab_size", 2),
                           width)),
      norm_(Norm::layer(source["LayerNorm"], width, config.get_double("layer_norm_eps", 1e-12))) {}

Value BertEmbeddings::operator()(const Pass& pass, std::span<const int64_t> ids,
                                 std::span<const int64_t> segments,
                                 std::span<const int64_t> positions) const {
  const std::vector<int64_t> zeros(segments.empty() ? ids.size() : 0);
  if (segments.empty()) segments = zeros;
  for (const int64_t segment : segments) {
    if (segment < 0 || segment >= segments_.size(0)) {
      fail(ErrorKind::kInvalidArgument,
           "token_type_ids holds {} but this model has {} segments, counted from 0", segment,
           segments_.size(0));
    }
  }
  const Value sum =
      ops::add(embed_words(pass, kInputsEmbeds, words_, ids), ops::embedding(segments_, segments));
  return norm_(ops::add(sum, ops::embedding(positions_, positions)));
}

BertEncoder::BertEncoder(const LayerSource& source, const Config& config)
    : sizes_(AttentionSizes::equal_heads(config)) {
  check_supported(config);
  const int64_t layers = layer_count(config);
  for (int64_t i = 0; i < layers; ++i) {
    blocks_.push_back(load_bert_block(source["encoder.layer"][i], config, sizes_));
  }
}

Value BertEncoder::operator()(const Pass& pass, const Value& x,
                              const AttentionSetting& setting) const {
  return run_blocks(blocks_, pass, SiteKind::kSelf, x, setting);
}

}  // namespace fovea
