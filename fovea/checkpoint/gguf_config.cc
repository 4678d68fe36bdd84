#include "fovea/checkpoint/gguf_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

struct KnownArchitecture {
  std::string_view name;  // general.architecture and model_type alike
  std::string_view class_name;
};
constexpr std::array<KnownArchitecture, 3> kArchitectures{
    {{"llama", "LlamaForCausalLM"}, {"qwen2", "Qwen2ForCausalLM"}, {"qwen3", "Qwen3ForCausalLM"}}};

const KnownArchitecture& architecture_named(const GgufFile& file) {
  const auto name = file.metadata().get_string("general.architecture");
  if (!name) {
    fail(ErrorKind::kBadFile, "{}: its metadata lacks 'general.architecture'; convert it again",
         file.source());
  }
  const auto it = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                               [&](const KnownArchitecture& known) { return known.name == *name; });
  if (it == kArchitectures.end()) {
    fail(
        ErrorKind::kUnsupported,
        "{}: is of the architecture {}; of GGUF files fovea reads llama, qwen2 and qwen3: take the "
        "model's safetensors files instead",
        file.source(), quote_name(*name));
  }
  return *it;
}

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

}  // namespace

Config gguf_config(const GgufFile& file) {
  const KnownArchitecture& architecture = architecture_named(file);
  const ModelKeys keys(file, architecture.name);
  const int64_t hidden = keys.get_int("embedding_length");
  const int64_t heads = keys.get_int("attention.head_count");
  const int64_t kv_heads = keys.find_int("attention.head_count_kv").value_or(heads);
  if (heads < 1 || kv_heads < 1 || hidden < 1) {
    fail(ErrorKind::kBadFile,
         "{}: says {} heads, {} of keys, for {} channels; each must be above 0", file.source(),
         heads, kv_heads, hidden);
  }
  Json json = Json::object();
  json.set("model_type", architecture.name);
  json.set("architectures", Json(Json::Array{Json(architecture.class_name)}));
  json.set("hidden_size", hidden);
  json.set("num_hidden_layers", keys.get_int("block_count"));
  json.set("num_attention_heads", heads);
  json.set("num_key_value_heads", kv_heads);
  json.set("head_dim",
           keys.find_int("attention.key_length")
               .value_or(keys.find_int("rope.dimension_count").value_or(hidden / heads)));
  json.set("intermediate_size", keys.get_int("feed_forward_length"));
  json.set("rms_norm_eps", keys.get_double("attention.layer_norm_rms_epsilon"));
  json.set("max_position_embeddings", keys.get_int("context_length"));
  json.set("vocab_size", vocabulary_size(keys, file));
  json.set("hidden_act", "silu");
  json.set("tie_word_embeddings", file.find("output.weight") == nullptr);
  json.set("attention_bias", file.find("blk.0.attn_q.bias") != nullptr);
  if (const auto window = keys.find_int("attention.sliding_window"); window && *window > 0) {
    json.set("sliding_window", *window);
  }
  set_rope(json, keys, file);
  if (const auto id = file.metadata().get_int("tokenizer.ggml.bos_token_id")) {
    json.set("bos_token_id", *id);
  }
  if (const auto id = file.metadata().get_int("tokenizer.ggml.eos_token_id")) {
    json.set("eos_token_id", *id);
  }
  return Config(std::move(json), file.source());
}

}  // namespace fovea
