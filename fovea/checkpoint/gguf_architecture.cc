#include "fovea/checkpoint/gguf_architecture.h"

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr GgufName kLlamaTop[] = {{"token_embd", "model.embed_tokens"},
                                  {"output_norm", "model.norm"},
                                  {"output", "lm_head"},
                                  {"rope_freqs", "model.rope_freqs"}};
constexpr GgufName kLlamaBlock[] = {
    {"attn_norm", "input_layernorm"},    {"ffn_norm", "post_attention_layernorm"},
    {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},      {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"}};
constexpr GgufName kGemmaBlock[] = {{"attn_norm", "input_layernorm"},
                                    {"post_attention_norm", "post_attention_layernorm"},
                                    {"ffn_norm", "pre_feedforward_layernorm"},
                                    {"post_ffw_norm", "post_feedforward_layernorm"},
                                    {"attn_q", "self_attn.q_proj"},
                                    {"attn_k", "self_attn.k_proj"},
                                    {"attn_v", "self_attn.v_proj"},
                                    {"attn_output", "self_attn.o_proj"},
                                    {"attn_q_norm", "self_attn.q_norm"},
                                    {"attn_k_norm", "self_attn.k_norm"},
                                    {"ffn_gate", "mlp.gate_proj"},
                                    {"ffn_up", "mlp.up_proj"},
                                    {"ffn_down", "mlp.down_proj"}};
constexpr GgufName kGpt2Top[] = {{"token_embd", "transformer.wte"},
                                 {"position_embd", "transformer.wpe"},
                                 {"output_norm", "transformer.ln_f"},
                                 {"output", "lm_head"}};
constexpr GgufName kGpt2Block[] = {{"attn_norm", "ln_1"},       {"ffn_norm", "ln_2"},
                                   {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
                                   {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"}};
constexpr GgufName kBertTop[] = {{"token_embd", "embeddings.word_embeddings"},
                                 {"position_embd", "embeddings.position_embeddings"},
                                 {"token_types", "embeddings.token_type_embeddings"},
                                 {"token_embd_norm", "embeddings.LayerNorm"},
                                 {"cls", "pooler.dense"},
                                 {"cls.output", "classifier"}};
constexpr GgufName kBertBlock[] = {{"attn_q", "attention.self.query"},
                                   {"attn_k", "attention.self.key"},
                                   {"attn_v", "attention.self.value"},
                                   {"attn_output", "attention.output.dense"},
                                   {"attn_output_norm", "attention.output.LayerNorm"},
                                   {"ffn_up", "intermediate.dense"},
                                   {"ffn_down", "output.dense"},
                                   {"layer_output_norm", "output.LayerNorm"}};

constexpr std::string_view kLlamaBlocks = "model.layers.";

constexpr GgufArchitecture kArchitectures[] = {
    {.name = "llama",
     .model_type = "llama",
     .class_name = "LlamaForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kLlamaBlock,
     .mixes_halves = true},
    {.name = "qwen2",
     .model_type = "qwen2",
     .class_name = "Qwen2ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kLlamaBlock},
    {.name = "qwen3",
     .model_type = "qwen3",
     .class_name = "Qwen3ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kLlamaBlock},
    {.name = "gemma3",
     .model_type = "gemma3_text",
     .class_name = "Gemma3ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kGemmaBlock,
     .norm_offset = 1},
    {.name = "gpt2",
     .model_type = "gpt2",
     .class_name = "GPT2LMHeadModel",
     .blocks = "transformer.h.",
     .top_names = kGpt2Top,
     .block_names = kGpt2Block,
     .transposes = true},
    {.name = "bert",
     .model_type = "bert",
     .class_name = "BertModel",
     .blocks = "encoder.layer.",
     .top_names = kBertTop,
     .block_names = kBertBlock},
};

const GgufName* find_pair(std::span<const GgufName> names, std::string_view stored) {
  const auto it = std::ranges::find(names, stored, &GgufName::stored);
  return it == names.end() ? nullptr : &*it;
}

}  // namespace

std::string GgufArchitecture::hub_name(std::string_view stored) const {
  constexpr std::string_view kBlock = "blk.";
  const size_t dot = stored.rfind('.');
  if (dot == stored.npos) return std::string(stored);
  const std::string_view suffix = stored.substr(dot);  // ".weight" or ".bias"
  const std::string_view stem = stored.substr(0, dot);
  if (const GgufName* pair = find_pair(top_names, stem)) {
    return fmt::format("{}{}", pair->hub, suffix);
  }
  const size_t end = stem.find('.', kBlock.size());
  if (!stem.starts_with(kBlock) || end == stem.npos) return std::string(stored);
  const GgufName* pair = find_pair(block_names, stem.substr(end + 1));
  if (pair == nullptr) return std::string(stored);
  return fmt::format("{}{}.{}{}", blocks, stem.substr(kBlock.size(), end - kBlock.size()),
                     pair->hub, suffix);
}

const GgufArchitecture* find_gguf_architecture(std::string_view name) {
  const auto it = std::ranges::find(kArchitectures, name, &GgufArchitecture::name);
  return it == std::end(kArchitectures) ? nullptr : it;
}

const GgufArchitecture& gguf_architecture(const GgufFile& file) {
  const auto name = file.metadata().get_string("general.architecture");
  if (!name) {
    fail(ErrorKind::kBadFile, "{}: its metadata lacks 'general.architecture'; convert it again",
         file.source());
  }
  const GgufArchitecture* found = find_gguf_architecture(*name);
  if (found == nullptr) {
    std::string names;
    for (const GgufArchitecture& known : kArchitectures) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
    }
    fail(ErrorKind::kUnsupported,
         "{}: is of the architecture {}; of GGUF files fovea reads {}: take the model's "
         "safetensors files instead",
         file.source(), quote_name(*name), names);
  }
  return *found;
}

}  // namespace fovea
