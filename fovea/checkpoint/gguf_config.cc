#include "fovea/checkpoint/gguf_config.h"

#include <string>

#include "fovea/base/error.h"
#include "fovea/checkpoint/gguf_architecture.h"
#include "fovea/checkpoint/gguf_decoder_config.h"

namespace fovea {
namespace {

int64_t vocabulary_size(const GgufKeys& keys, const GgufFile& file) {
  const GgufFile::Entry* embedding = file.find("token_embd.weight");
  if (embedding != nullptr && embedding->shape.rank() == 2) return embedding->shape[0];
  return keys.get_int("vocab_size");
}

int64_t rows_of(const GgufFile& file, std::string_view name, int64_t otherwise) {
  const GgufFile::Entry* entry = file.find(name);
  return entry != nullptr && entry->shape.rank() == 2 ? entry->shape[0] : otherwise;
}

// Llama, and Mixtral, whose files say llama too; Qwen.
void set_llama(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  if (keys.find_int("expert_count").value_or(0) > 0) set_experts(json, keys, "num_local_experts");
  json.set("hidden_act", "silu");
}

// What llama.cpp has built in: which layers have a window, their rotary base, the scale of scores.
void set_gemma3(Json& json, const GgufKeys& keys) {
  set_decoder_sizes(json, keys, "rms_norm_eps", /*rms=*/true);
  refuse_partial_rotation(json, keys);
  constexpr int64_t kPattern = 6, kLayersOf27B = 62;
  const int64_t layers = keys.get_int("block_count");
  json.set("sliding_window_pattern",
           keys.find_int("attention.sliding_window_pattern").value_or(kPattern));
  json.set("rope_theta", keys.find_double("rope.freq_base").value_or(1e6));
  json.set("rope_local_base_freq", keys.find_double("rope.freq_base_swa").value_or(1e4));
  json.set("hidden_activation", "gelu_pytorch_tanh");
  json.set("final_logit_softcapping", keys.find_double("final_logit_softcapping").value_or(0.0));
  const int64_t head_dim = json.at("head_dim", "config").as_int("config");
  const int64_t heads = keys.get_int("attention.head_count");
  json.set("query_pre_attn_scalar",
           layers == kLayersOf27B ? keys.get_int("embedding_length") / heads : head_dim);
}

void set_gpt2(Json& json, const GgufKeys& keys) {
  const GgufFile& file = keys.file();
  json.set("n_embd", keys.get_int("embedding_length"));
  json.set("n_layer", keys.get_int("block_count"));
  json.set("n_head", keys.get_int("attention.head_count"));
  json.set("n_inner", keys.get_int("feed_forward_length"));
  json.set("n_positions",
           rows_of(file, "position_embd.weight", keys.find_int("context_length").value_or(1024)));
  json.set("layer_norm_epsilon", keys.get_double("attention.layer_norm_epsilon"));
  json.set("activation_function", "gelu_new");
}

void set_bert(Json& json, const GgufKeys& keys) {
  const GgufFile& file = keys.file();
  json.set("hidden_size", keys.get_int("embedding_length"));
  json.set("num_hidden_layers", keys.get_int("block_count"));
  json.set("num_attention_heads", keys.get_int("attention.head_count"));
  json.set("intermediate_size", keys.get_int("feed_forward_length"));
  json.set("layer_norm_eps", keys.get_double("attention.layer_norm_epsilon"));
  json.set("max_position_embeddings",
           rows_of(file, "position_embd.weight", keys.find_int("context_length").value_or(512)));
  json.set("type_vocab_size", rows_of(file, "token_types.weight", 2));
  json.set("hidden_act", "gelu");
  if (const int64_t labels = rows_of(file, "cls.output.weight", 0); labels > 0) {
    json.set("architectures", Json(Json::Array{Json("BertForSequenceClassification")}));
    json.set("num_labels", labels);
  }
}

using Setter = void (*)(Json& json, const GgufKeys& keys);

Setter setter_of(std::string_view architecture) {
  static constexpr std::pair<std::string_view, Setter> kSetters[] = {
      {"bert", set_bert},
      {"bloom", set_bloom},
      {"command-r", set_command_r},
      {"falcon", set_falcon},
      {"gemma2", set_gemma2},
      {"gemma3", set_gemma3},
      {"gpt-oss", set_gpt_oss},
      {"gpt2", set_gpt2},
      {"granite", set_granite},
      {"mpt", set_mpt},
      {"nomic-bert", set_nomic_bert},
      {"olmo2", set_olmo2},
      {"phi2", set_phi2},
      {"phi3", set_phi3},
      {"qwen3moe", set_qwen3_moe},
      {"starcoder2", set_starcoder2}};
  for (const auto& [name, setter] : kSetters) {
    if (name == architecture) return setter;
  }
  return set_llama;
}

}  // namespace

Config gguf_config(const GgufFile& file) {
  const GgufArchitecture& architecture = gguf_architecture(file);
  const GgufKeys keys(file, architecture.name);
  Json json = Json::object();
  json.set("model_type", architecture.model_type);
  json.set("architectures", Json(Json::Array{Json(architecture.class_name)}));
  setter_of(architecture.name)(json, keys);
  json.set("vocab_size", vocabulary_size(keys, file));
  json.set("tie_word_embeddings", file.find("output.weight") == nullptr);
  if (const auto id = file.metadata().get_int("tokenizer.ggml.bos_token_id")) {
    json.set("bos_token_id", *id);
  }
  if (const auto id = file.metadata().get_int("tokenizer.ggml.eos_token_id")) {
    json.set("eos_token_id", *id);
  }
  return Config(std::move(json), file.source());
}

}  // namespace fovea
