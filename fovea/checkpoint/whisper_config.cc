#include "fovea/checkpoint/whisper_config.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

class WhisperDims {
 public:
  explicit WhisperDims(const TorchFile& file)
      : source_(file.source()), numbers_(file.numbers("dims")) {}

  bool empty() const { return numbers_.empty(); }
  int64_t operator[](std::string_view name) const {
    const auto it = std::ranges::find(numbers_, name, [](const auto& n) { return n.first; });
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 4;
    if (it == numbers_.end() || it->second < 1 || it->second > kMost) {
      fail(ErrorKind::kBadFile, "{}: its dims say {} for {}; expected a number from 1 to {}",
           source_, it == numbers_.end() ? "nothing" : std::to_string(it->second), name, kMost);
    }
    return it->second;
  }

 private:
  std::string source_;
  std::vector<std::pair<std::string, int64_t>> numbers_;
};

}  // namespace

std::optional<Config> find_whisper_config(const TorchFile& file) {
  const WhisperDims dims(file);
  if (dims.empty()) return {};
  const int64_t width = dims["n_audio_state"];
  if (width != dims["n_text_state"]) {
    fail(ErrorKind::kBadFile, "{}: its encoder is {} wide but its decoder {}; they must agree",
         file.source(), width, dims["n_text_state"]);
  }
  // Models of English alone have a vocabulary that is one word smaller.
  constexpr int64_t kManyLanguages = 51865, kEnglishEnd = 50256;
  const int64_t end = kEnglishEnd + (dims["n_vocab"] >= kManyLanguages ? 1 : 0);
  Json json = Json::object();
  json.set("model_type", "whisper");
  json.set("architectures", Json(Json::Array{Json("WhisperForConditionalGeneration")}));
  json.set("d_model", width);
  json.set("num_mel_bins", dims["n_mels"]);
  json.set("vocab_size", dims["n_vocab"]);
  json.set("max_source_positions", dims["n_audio_ctx"]);
  json.set("max_target_positions", dims["n_text_ctx"]);
  json.set("encoder_layers", dims["n_audio_layer"]);
  json.set("decoder_layers", dims["n_text_layer"]);
  json.set("encoder_attention_heads", dims["n_audio_head"]);
  json.set("decoder_attention_heads", dims["n_text_head"]);
  json.set("encoder_ffn_dim", 4 * width);
  json.set("decoder_ffn_dim", 4 * width);
  json.set("activation_function", "gelu");
  if (dims["n_vocab"] > end + 1) {
    json.set("eos_token_id", end);
    json.set("pad_token_id", end);
    json.set("decoder_start_token_id", end + 1);
  }
  return Config(std::move(json), file.source());
}

}  // namespace fovea
