#include "fovea/checkpoint/gguf_decoder_config.h"

#include <string>

#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr std::string_view kLayerEpsilon = "attention.layer_norm_epsilon";
constexpr std::string_view kRmsEpsilon = "attention.layer_norm_rms_epsilon";

int64_t number_in(const Json& json, const char* key) {
  return json.at(key, "config").as_int("config");
}

void set_rope(Json& json, const GgufKeys& keys) {
  json.set("rope_theta", keys.find_double("rope.freq_base").value_or(10000.0));
  Json scaling = Json::object();
  const auto type = keys.find_string("rope.scaling.type").value_or("none");
  if (type != "none") {
    scaling.set("rope_type", type);
    scaling.set("factor", keys.find_double("rope.scaling.factor").value_or(1.0));
    if (const auto length = keys.find_int("rope.scaling.original_context_length")) {
      scaling.set("original_max_position_embeddings", *length);
    }
    json.set("rope_scaling", scaling);
  } else if (keys.has_tensor("rope_freqs.weight")) {
    scaling.set("rope_type", "factors");
    json.set("rope_scaling", scaling);
  }
}

// The share of each head that turns.
void set_rotated_share(Json& json, const GgufKeys& keys) {
  const int64_t head_dim = number_in(json, "head_dim");
  const int64_t rotated = keys.find_int("rope.dimension_count").value_or(head_dim);
  json.set("partial_rotary_factor", static_cast<double>(rotated) / static_cast<double>(head_dim));
}

void set_window(Json& json, const GgufKeys& keys) {
  const auto window = keys.find_int("attention.sliding_window");
  if (window && *window > 0) json.set("sliding_window", *window);
}

Json numbers_of(const GgufKeys& keys, std::string_view tensor) {
  const GgufFile::Entry* entry = keys.file().find(tensor);
  const Tensor values = convert(keys.file().tensor(*entry), DType::kF32);
  Json list = Json::array();
  for (const float value : values.values<float>()) list.push_back(double{value});
  return list;
}

}  // namespace

void set_decoder_sizes(Json& json, const GgufKeys& keys, std::string_view epsilon_key, bool rms) {
  const int64_t hidden = keys.get_int("embedding_length");
  const int64_t heads = keys.get_int("attention.head_count");
  const int64_t kv_heads = keys.find_int("attention.head_count_kv").value_or(heads);
  if (heads < 1 || kv_heads < 1 || hidden < 1) {
    fail(ErrorKind::kBadFile,
         "{}: says {} heads, {} of keys, for {} channels; each must be above 0",
         keys.file().source(), heads, kv_heads, hidden);
  }
  json.set("hidden_size", hidden);
  json.set("num_hidden_layers", keys.get_int("block_count"));
  json.set("num_attention_heads", heads);
  json.set("num_key_value_heads", kv_heads);
  json.set("head_dim", keys.find_int("attention.key_length").value_or(hidden / heads));
  if (const auto inner = keys.find_int("feed_forward_length")) {
    json.set("intermediate_size", *inner);
  }
  json.set(std::string(epsilon_key), keys.get_double(rms ? kRmsEpsilon : kLayerEpsilon));
  json.set("max_position_embeddings", keys.get_int("context_length"));
  json.set("attention_bias", keys.has_tensor("blk.0.attn_q.bias"));
  set_window(json, keys);
  set_rope(json, keys);
}

void refuse_partial_rotation(const Json& json, const GgufKeys& keys) {
  const int64_t head_dim = number_in(json, "head_dim");
  const int64_t rotated = keys.find_int("rope.dimension_count").value_or(head_dim);
  if (rotated != head_dim) {
    fail(ErrorKind::kUnsupported,
         "{}: rotates {} of the {} numbers of a head; of GGUF files of this family fovea reads "
         "those "
         "that rotate all",
         keys.file().source(), rotated, head_dim);
  }
}

void set_experts(Json& json, const GgufKeys& keys, std::string_view experts_key) {
  json.set(std::string(experts_key), keys.get_int("expert_count"));
  json.set("num_experts_per_tok", keys.get_int("expert_used_count"));
}

// llama.cpp has the scale built in: by the heads' size, but of the model of 27B by the width's
// share.
void set_gemma2(Json& json, const GgufKeys& keys) {
  constexpr int64_t kLayersOf27B = 46;
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  json.set("attn_logit_softcapping", keys.find_double("attn_logit_softcapping").value_or(50.0));
  json.set("final_logit_softcapping", keys.find_double("final_logit_softcapping").value_or(30.0));
  json.set("hidden_activation", "gelu_pytorch_tanh");
  const int64_t by_width = number_in(json, "hidden_size") / number_in(json, "num_attention_heads");
  json.set("query_pre_attn_scalar", number_in(json, "num_hidden_layers") == kLayersOf27B
                                        ? by_width
                                        : number_in(json, "head_dim"));
}

void set_phi2(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "layer_norm_eps", /*rms=*/false);
  set_rotated_share(json, keys);
  json.set("hidden_act", "gelu_new");
}

// The factors of LongRoPE lie in two tensors; llama.cpp takes the long ones for long contexts.
void set_phi3(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  set_rotated_share(json, keys);
  json.set("hidden_act", "silu");
  if (!keys.has_tensor("rope_factors_long.weight") ||
      !keys.has_tensor("rope_factors_short.weight")) {
    return;
  }
  Json scaling = Json::object();
  scaling.set("rope_type", "longrope");
  scaling.set("long_factor", numbers_of(keys, "rope_factors_long.weight"));
  scaling.set("short_factor", numbers_of(keys, "rope_factors_short.weight"));
  scaling.set("original_max_position_embeddings",
              keys.find_int("rope.scaling.original_context_length")
                  .value_or(keys.get_int("context_length")));
  if (const auto factor = keys.find_double("rope.scaling.attn_factor")) {
    scaling.set("attention_factor", *factor);
  }
  json.set("rope_scaling", std::move(scaling));
}

void set_granite(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  const std::pair<const char*, const char*> factors[] = {
      {"attention_multiplier", "attention.scale"},
      {"residual_multiplier", "residual_scale"},
      {"embedding_multiplier", "embedding_scale"},
      {"logits_scaling", "logit_scale"}};
  for (const auto& [member, key] : factors) {
    if (const auto value = keys.find_double(key)) json.set(member, *value);
  }
  json.set("mlp_bias", keys.has_tensor("blk.0.ffn_gate.bias"));
  json.set("hidden_act", "silu");
}

void set_starcoder2(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "norm_epsilon", /*rms=*/false);
  refuse_partial_rotation(json, keys);
  json.set("use_bias", keys.has_tensor("blk.0.attn_q.bias"));
  json.set("hidden_act", "gelu_pytorch_tanh");
}

void set_command_r(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "layer_norm_eps", /*rms=*/false);
  refuse_partial_rotation(json, keys);
  json.set("logit_scale", keys.get_double("logit_scale"));
  json.set("use_qk_norm", keys.has_tensor("blk.0.attn_q_norm.weight"));
  json.set("hidden_act", "silu");
}

void set_olmo2(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  json.set("hidden_act", "silu");
}

// With two norms it is the newer form. llama.cpp has q, k and v one after the other.
void set_falcon(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "layer_norm_epsilon", /*rms=*/false);
  refuse_partial_rotation(json, keys);
  const bool is_new = keys.has_tensor("blk.0.attn_norm_2.weight");
  json.set("new_decoder_architecture", is_new);
  json.set("num_kv_heads", number_in(json, "num_key_value_heads"));
  json.set("multi_query", true);
  json.set("bias", keys.has_tensor("blk.0.attn_qkv.bias"));
  json.set("ffn_hidden_size", keys.get_int("feed_forward_length"));
  json.set("projections_in_order", true);
}

void set_bloom(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "layer_norm_epsilon", /*rms=*/false);
  json.set("seq_length", keys.get_int("context_length"));
  json.set("projections_in_order", true);
}

void set_mpt(Json& json, const GgufKeys& keys) {
  json.set("d_model", keys.get_int("embedding_length"));
  json.set("n_heads", keys.get_int("attention.head_count"));
  json.set("n_layers", keys.get_int("block_count"));
  json.set("max_seq_len", keys.get_int("context_length"));
  json.set("layer_norm_epsilon", keys.get_double(kLayerEpsilon));
  Json attention = Json::object();
  const double limit = keys.find_double("attention.clamp_kqv").value_or(0.0);
  if (limit > 0) attention.set("clip_qkv", limit);
  attention.set("alibi", keys.find_double("attention.max_alibi_bias").value_or(8.0) > 0);
  json.set("attn_config", std::move(attention));
}

void set_nomic_bert(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "layer_norm_eps", /*rms=*/false);
  refuse_partial_rotation(json, keys);
  const GgufFile::Entry* types = keys.file().find("token_types.weight");
  json.set("type_vocab_size", types != nullptr && types->shape.rank() == 2 ? types->shape[0] : 2);
  json.set("hidden_act", "silu");
}

// llama.cpp divides the shares of the chosen experts by their sum.
void set_qwen3_moe(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  set_experts(json, keys, "num_experts");
  json.set("moe_intermediate_size", keys.get_int("expert_feed_forward_length"));
  json.set("norm_topk_prob", true);
  json.set("hidden_act", "silu");
}

void set_gpt_oss(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  set_experts(json, keys, "num_local_experts");
  if (const auto inner = keys.find_int("expert_feed_forward_length")) {
    json.set("intermediate_size", *inner);
  }
  if (const Json* found = json.find("rope_scaling")) {
    Json scaling = *found;
    scaling.set("truncate", false);
    json.set("rope_scaling", std::move(scaling));
  }
}

}  // namespace fovea
