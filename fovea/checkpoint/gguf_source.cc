#include "fovea/checkpoint/gguf_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/checkpoint/gguf_config.h"

namespace fovea {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

constexpr std::array<NamePair, 4> kTopNames{{{"token_embd", "model.embed_tokens"},
                                             {"output_norm", "model.norm"},
                                             {"output", "lm_head"},
                                             {"rope_freqs", "model.rope_freqs"}}};

constexpr std::array<NamePair, 11> kBlockNames{{{"attn_norm", "input_layernorm"},
                                                {"ffn_norm", "post_attention_layernorm"},
                                                {"attn_q", "self_attn.q_proj"},
                                                {"attn_k", "self_attn.k_proj"},
                                                {"attn_v", "self_attn.v_proj"},
                                                {"attn_output", "self_attn.o_proj"},
                                                {"attn_q_norm", "self_attn.q_norm"},
                                                {"attn_k_norm", "self_attn.k_norm"},
                                                {"ffn_gate", "mlp.gate_proj"},
                                                {"ffn_up", "mlp.up_proj"},
                                                {"ffn_down", "mlp.down_proj"}}};

template <typename Table>
const NamePair* find_pair(const Table& table, std::string_view name) {
  const auto it = std::find_if(table.begin(), table.end(),
                               [&](const NamePair& pair) { return pair.first == name; });
  return it == table.end() ? nullptr : &*it;
}

// Heads of the tensor whose rows llama.cpp reorders; 0 for all others.
int64_t permuted_heads(std::string_view name, const Config& config) {
  if (!name.starts_with("blk.")) return 0;
  const std::string_view part = name.substr(std::min(name.size(), name.find('.', 4)));
  if (part.starts_with(".attn_q.")) return config.get_size("num_attention_heads");
  if (part.starts_with(".attn_k.")) return config.get_size("num_key_value_heads");
  return 0;
}

class GgufSource final : public WeightSource {
 public:
  explicit GgufSource(GgufFile file) : file_(std::move(file)) {
    const Config config = gguf_config(file_);
    const bool permuted = config.model_type() == "llama";
    for (const GgufFile::Entry& entry : file_.entries()) {
      infos_.push_back({gguf_to_hub_name(entry.name), entry.type->dtype, entry.shape,
                        std::string(entry.type->name)});
      heads_.push_back(permuted ? permuted_heads(entry.name, config) : 0);
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  Tensor read(size_t index) const override {
    const GgufFile::Entry& entry = file_.entries()[index];
    const Tensor tensor = file_.tensor(entry);
    if (heads_[index] == 0) return tensor;
    return unpermute_heads(tensor, heads_[index],
                           fmt::format("{}: tensor {}", file_.source(), quote_name(entry.name)));
  }
  const std::string& file(size_t) const override { return file_.source(); }
  const std::string& name() const override { return file_.source(); }

 private:
  GgufFile file_;
  std::vector<TensorInfo> infos_;
  std::vector<int64_t> heads_;
};

}  // namespace

std::string gguf_to_hub_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos) return std::string(name);
  const std::string_view suffix = name.substr(dot);  // ".weight" or ".bias"
  const std::string_view stem = name.substr(0, dot);
  if (const NamePair* pair = find_pair(kTopNames, stem)) {
    return fmt::format("{}{}", pair->second, suffix);
  }
  constexpr std::string_view kBlock = "blk.";
  const size_t end = stem.find('.', kBlock.size());
  if (!stem.starts_with(kBlock) || end == stem.npos) return std::string(name);
  const NamePair* pair = find_pair(kBlockNames, stem.substr(end + 1));
  if (pair == nullptr) return std::string(name);
  return fmt::format("model.layers.{}.{}{}", stem.substr(kBlock.size(), end - kBlock.size()),
                     pair->second, suffix);
}

Tensor unpermute_heads(const Tensor& tensor, int64_t heads, std::string_view where) {
  const int64_t rows = tensor.rank() == 0 ? 1 : tensor.size(0);
  if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0) {
    fail(ErrorKind::kBadFile,
         "{}: its {} rows do not divide into {} heads of even size; convert the model again", where,
         rows, heads);
  }
  Tensor result = Tensor::uninitialized(tensor.shape(), tensor.dtype());
  if (rows == 0) return result;
  const int64_t half = rows / heads / 2;
  const size_t row_bytes = tensor.bytes() / static_cast<size_t>(rows);
  const auto row_at = [&](int64_t row) { return static_cast<size_t>(row) * row_bytes; };
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t i = 0; i < half; ++i) {
      for (int64_t part = 0; part < 2; ++part) {  // row 2i + part was row i of that half
        const int64_t first = head * half * 2;
        std::memcpy(result.mutable_raw() + row_at(first + part * half + i),
                    tensor.raw() + row_at(first + 2 * i + part), row_bytes);
      }
    }
  }
  return result;
}

std::shared_ptr<const WeightSource> gguf_weights(GgufFile file) {
  return std::make_shared<GgufSource>(std::move(file));
}

}  // namespace fovea
