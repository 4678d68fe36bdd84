#include "fovea/checkpoint/gguf_config.h"

#include <string>

#include "fovea/base/error.h"
#include "fovea/checkpoint/gguf_architecture.h"

namespace fovea {
namespace {

// Reads "<architecture>.<key>".
class ModelKeys {
 public:
  ModelKeys(const GgufFile& file, std::string_view architecture)
      : file_(file), architecture_(architecture) {}

  std::optional<int64_t> find_int(std::string_view key) const {
    return file_.metadata().get_int(whole(key));
  }
  std::optional<double> find_double(std::string_view key) const {
    return file_.metadata().get_double(whole(key));
  }
  std::optional<std::string_view> find_string(std::string_view key) const {
    return file_.metadata().get_string(whole(key));
  }
  int64_t get_int(std::string_view key) const { return require(find_int(key), key); }
  double get_double(std::string_view key) const { return require(find_double(key), key); }

 private:
  std::string whole(std::string_view key) const { return fmt::format("{}.{}", architecture_, key); }
  template <typename T>
  T require(const std::optional<T>& value, std::string_view key) const {
    if (value) return *value;
    fail(ErrorKind::kBadFile, "{}: its metadata lacks '{}'; convert the model again",
         file_.source(), whole(key));
  }

  const GgufFile& file_;
  std::string_view architecture_;
};

void set_rope(Json& json, const ModelKeys& keys, const GgufFile& file) {
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
  } else if (file.find("rope_freqs.weight") != nullptr) {
    scaling.set("rope_type", "factors");
    json.set("rope_scaling", scaling);
  }
}

int64_t vocabulary_size(const ModelKeys& keys, const GgufFile& file) {
  const GgufFile::Entry* embedding = file.find("token_embd.weight");
  if (embedding != nullptr && embedding->shape.rank() == 2) return embedding->shape[0];
  return keys.get_int("vocab_size");
}

int64_t rows_of(const GgufFile& file, std::string_view name, int64_t otherwise) {
  const GgufFile::Entry* entry = file.find(name);
  return entry != nullptr && entry->shape.rank() == 2 ? entry->shape[0] : otherwise;
}

// Of decoders with rotary positions: llama, qwen2, qwen3, gemma3.
void set_rope_decoder(Json& json, const ModelKeys& keys, const GgufFile& file) {
  const int64_t hidden = keys.get_int("embedding_length");
  const int64_t heads = keys.get_int("attention.head_count");
  const int64_t kv_heads = keys.find_int("attention.head_count_kv").value_or(heads);
  if (heads < 1 || kv_heads < 1 || hidden < 1) {
    fail(ErrorKind::kBadFile,
         "{}: says {} heads, {} of keys, for {} channels; each must be above 0", file.source(),
         heads, kv_heads, hidden);
  }
  if (const int64_t experts = keys.find_int("expert_count").value_or(0); experts > 0) {
    fail(ErrorKind::kUnsupported,
         "{}: is a mixture of {} experts, which fovea does not run; take a dense model",
         file.source(), experts);
  }
  json.set("hidden_size", hidden);
  json.set("num_hidden_layers", keys.get_int("block_count"));
  json.set("num_attention_heads", heads);
  json.set("num_key_value_heads", kv_heads);
  const int64_t head_dim = keys.find_int("attention.key_length").value_or(hidden / heads);
  const int64_t rotated = keys.find_int("rope.dimension_count").value_or(head_dim);
  if (rotated != head_dim) {
    fail(ErrorKind::kUnsupported,
         "{}: rotates {} of the {} numbers of a head; of GGUF files fovea reads those that rotate "
         "all",
         file.source(), rotated, head_dim);
  }
  json.set("head_dim", head_dim);
  json.set("intermediate_size", keys.get_int("feed_forward_length"));
  json.set("rms_norm_eps", keys.get_double("attention.layer_norm_rms_epsilon"));
  json.set("max_position_embeddings", keys.get_int("context_length"));
  json.set("attention_bias", file.find("blk.0.attn_q.bias") != nullptr);
  if (const auto window = keys.find_int("attention.sliding_window"); window && *window > 0) {
    json.set("sliding_window", *window);
  }
  set_rope(json, keys, file);
}

// What llama.cpp has built in: which layers have a window, their rotary base, the scale of scores.
void set_gemma3(Json& json, const ModelKeys& keys) {
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

void set_gpt2(Json& json, const ModelKeys& keys, const GgufFile& file) {
  json.set("n_embd", keys.get_int("embedding_length"));
  json.set("n_layer", keys.get_int("block_count"));
  json.set("n_head", keys.get_int("attention.head_count"));
  json.set("n_inner", keys.get_int("feed_forward_length"));
  json.set("n_positions",
           rows_of(file, "position_embd.weight", keys.find_int("context_length").value_or(1024)));
  json.set("layer_norm_epsilon", keys.get_double("attention.layer_norm_epsilon"));
  json.set("activation_function", "gelu_new");
}

void set_bert(Json& json, const ModelKeys& keys, const GgufFile& file) {
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

}  // namespace

Config gguf_config(const GgufFile& file) {
  const GgufArchitecture& architecture = gguf_architecture(file);
  const ModelKeys keys(file, architecture.name);
  Json json = Json::object();
  json.set("model_type", architecture.model_type);
  json.set("architectures", Json(Json::Array{Json(architecture.class_name)}));
  if (architecture.name == "gpt2") {
    set_gpt2(json, keys, file);
  } else if (architecture.name == "bert") {
    set_bert(json, keys, file);
  } else {
    set_rope_decoder(json, keys, file);
    if (architecture.name == "gemma3") set_gemma3(json, keys);
    if (architecture.name != "gemma3") json.set("hidden_act", "silu");
  }
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
