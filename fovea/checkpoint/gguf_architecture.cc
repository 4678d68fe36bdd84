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
constexpr GgufName kMixtralBlock[] = {{"attn_norm", "input_layernorm"},
                                      {"ffn_norm", "post_attention_layernorm"},
                                      {"attn_q", "self_attn.q_proj"},
                                      {"attn_k", "self_attn.k_proj"},
                                      {"attn_v", "self_attn.v_proj"},
                                      {"attn_output", "self_attn.o_proj"},
                                      {"ffn_gate_inp", "block_sparse_moe.gate"},
                                      {"ffn_gate_exps", "block_sparse_moe.experts.w1"},
                                      {"ffn_down_exps", "block_sparse_moe.experts.w2"},
                                      {"ffn_up_exps", "block_sparse_moe.experts.w3"}};
constexpr GgufName kQwenMoeBlock[] = {
    {"attn_norm", "input_layernorm"},       {"ffn_norm", "post_attention_layernorm"},
    {"attn_q", "self_attn.q_proj"},         {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},         {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},    {"attn_k_norm", "self_attn.k_norm"},
    {"ffn_gate_inp", "mlp.gate"},           {"ffn_gate_exps", "mlp.experts.gate_proj"},
    {"ffn_up_exps", "mlp.experts.up_proj"}, {"ffn_down_exps", "mlp.experts.down_proj"}};
constexpr GgufName kGptOssBlock[] = {{"attn_norm", "input_layernorm"},
                                     {"post_attention_norm", "post_attention_layernorm"},
                                     {"attn_q", "self_attn.q_proj"},
                                     {"attn_k", "self_attn.k_proj"},
                                     {"attn_v", "self_attn.v_proj"},
                                     {"attn_output", "self_attn.o_proj"},
                                     {"attn_sinks", "self_attn.sinks"},
                                     {"ffn_gate_inp", "mlp.router"},
                                     {"ffn_gate_exps", "mlp.experts.gate_proj"},
                                     {"ffn_up_exps", "mlp.experts.up_proj"},
                                     {"ffn_down_exps", "mlp.experts.down_proj"}};
constexpr GgufName kOlmo2Block[] = {{"post_attention_norm", "post_attention_layernorm"},
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
constexpr GgufName kStarcoder2Block[] = {
    {"attn_norm", "input_layernorm"}, {"ffn_norm", "post_attention_layernorm"},
    {"attn_q", "self_attn.q_proj"},   {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},   {"attn_output", "self_attn.o_proj"},
    {"ffn_up", "mlp.c_fc"},           {"ffn_down", "mlp.c_proj"}};
constexpr GgufName kPhi2Top[] = {{"token_embd", "model.embed_tokens"},
                                 {"output_norm", "model.final_layernorm"},
                                 {"output", "lm_head"}};
constexpr GgufName kPhi2Block[] = {{"attn_norm", "input_layernorm"},
                                   {"attn_q", "self_attn.q_proj"},
                                   {"attn_k", "self_attn.k_proj"},
                                   {"attn_v", "self_attn.v_proj"},
                                   {"attn_output", "self_attn.dense"},
                                   {"ffn_up", "mlp.fc1"},
                                   {"ffn_down", "mlp.fc2"}};
constexpr GgufName kPhi3Block[] = {
    {"attn_norm", "input_layernorm"},   {"ffn_norm", "post_attention_layernorm"},
    {"attn_qkv", "self_attn.qkv_proj"}, {"attn_output", "self_attn.o_proj"},
    {"ffn_up", "mlp.gate_up_proj"},     {"ffn_down", "mlp.down_proj"}};
constexpr GgufName kFalconTop[] = {{"token_embd", "transformer.word_embeddings"},
                                   {"output_norm", "transformer.ln_f"},
                                   {"output", "lm_head"}};
constexpr GgufName kFalconBlock[] = {{"attn_norm", "input_layernorm"},
                                     {"attn_qkv", "self_attention.query_key_value"},
                                     {"attn_output", "self_attention.dense"},
                                     {"ffn_up", "mlp.dense_h_to_4h"},
                                     {"ffn_down", "mlp.dense_4h_to_h"}};
// Of two norms the first is that of the feed-forward part.
constexpr GgufName kFalcon40Block[] = {{"attn_norm", "ln_mlp"},
                                       {"attn_norm_2", "ln_attn"},
                                       {"attn_qkv", "self_attention.query_key_value"},
                                       {"attn_output", "self_attention.dense"},
                                       {"ffn_up", "mlp.dense_h_to_4h"},
                                       {"ffn_down", "mlp.dense_4h_to_h"}};
constexpr GgufName kBloomTop[] = {{"token_embd", "transformer.word_embeddings"},
                                  {"token_embd_norm", "transformer.word_embeddings_layernorm"},
                                  {"output_norm", "transformer.ln_f"},
                                  {"output", "lm_head"}};
constexpr GgufName kBloomBlock[] = {{"attn_norm", "input_layernorm"},
                                    {"ffn_norm", "post_attention_layernorm"},
                                    {"attn_qkv", "self_attention.query_key_value"},
                                    {"attn_output", "self_attention.dense"},
                                    {"ffn_up", "mlp.dense_h_to_4h"},
                                    {"ffn_down", "mlp.dense_4h_to_h"}};
constexpr GgufName kMptTop[] = {{"token_embd", "transformer.wte"},
                                {"output_norm", "transformer.norm_f"},
                                {"output", "lm_head"}};
constexpr GgufName kMptBlock[] = {{"attn_norm", "norm_1"},   {"ffn_norm", "norm_2"},
                                  {"attn_qkv", "attn.Wqkv"}, {"attn_output", "attn.out_proj"},
                                  {"ffn_up", "ffn.up_proj"}, {"ffn_down", "ffn.down_proj"}};
constexpr GgufName kNomicTop[] = {{"token_embd", "embeddings.word_embeddings"},
                                  {"token_types", "embeddings.token_type_embeddings"},
                                  {"token_embd_norm", "emb_ln"}};
constexpr GgufName kNomicBlock[] = {{"attn_qkv", "attn.Wqkv"},     {"attn_output", "attn.out_proj"},
                                    {"attn_output_norm", "norm1"}, {"ffn_up", "mlp.fc11"},
                                    {"ffn_gate", "mlp.fc12"},      {"ffn_down", "mlp.fc2"},
                                    {"layer_output_norm", "norm2"}};
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

// Those with a mark stand in front of others of the name.
constexpr GgufArchitecture kArchitectures[] = {
    {.name = "llama",
     .model_type = "mixtral",
     .class_name = "MixtralForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kMixtralBlock,
     .mixes_halves = true,
     .mark = "blk.0.ffn_gate_inp.weight"},
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
    {.name = "gemma2",
     .model_type = "gemma2",
     .class_name = "Gemma2ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kGemmaBlock,
     .norm_offset = 1},
    {.name = "phi2",
     .model_type = "phi",
     .class_name = "PhiForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kPhi2Top,
     .block_names = kPhi2Block},
    {.name = "phi3",
     .model_type = "phi3",
     .class_name = "Phi3ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kPhi3Block},
    {.name = "granite",
     .model_type = "granite",
     .class_name = "GraniteForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kLlamaBlock,
     .mixes_halves = true},
    {.name = "starcoder2",
     .model_type = "starcoder2",
     .class_name = "Starcoder2ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kStarcoder2Block},
    {.name = "command-r",
     .model_type = "cohere",
     .class_name = "CohereForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kLlamaBlock},
    {.name = "olmo2",
     .model_type = "olmo2",
     .class_name = "Olmo2ForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kOlmo2Block},
    {.name = "qwen3moe",
     .model_type = "qwen3_moe",
     .class_name = "Qwen3MoeForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kQwenMoeBlock},
    {.name = "gpt-oss",
     .model_type = "gpt_oss",
     .class_name = "GptOssForCausalLM",
     .blocks = kLlamaBlocks,
     .top_names = kLlamaTop,
     .block_names = kGptOssBlock},
    {.name = "falcon",
     .model_type = "falcon",
     .class_name = "FalconForCausalLM",
     .blocks = "transformer.h.",
     .top_names = kFalconTop,
     .block_names = kFalcon40Block,
     .mark = "blk.0.attn_norm_2.weight"},
    {.name = "falcon",
     .model_type = "falcon",
     .class_name = "FalconForCausalLM",
     .blocks = "transformer.h.",
     .top_names = kFalconTop,
     .block_names = kFalconBlock},
    {.name = "bloom",
     .model_type = "bloom",
     .class_name = "BloomForCausalLM",
     .blocks = "transformer.h.",
     .top_names = kBloomTop,
     .block_names = kBloomBlock},
    {.name = "mpt",
     .model_type = "mpt",
     .class_name = "MptForCausalLM",
     .blocks = "transformer.blocks.",
     .top_names = kMptTop,
     .block_names = kMptBlock},
    {.name = "nomic-bert",
     .model_type = "nomic_bert",
     .class_name = "NomicBertModel",
     .blocks = "encoder.layers.",
     .top_names = kNomicTop,
     .block_names = kNomicBlock},
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
  const auto it = std::ranges::find_if(kArchitectures, [name](const GgufArchitecture& known) {
    return known.name == name && known.mark.empty();
  });
  return it == std::end(kArchitectures) ? nullptr : it;
}

const GgufArchitecture& gguf_architecture(const GgufFile& file) {
  const auto name = file.metadata().get_string("general.architecture");
  if (!name) {
    fail(ErrorKind::kBadFile, "{}: its metadata lacks 'general.architecture'; convert it again",
         file.source());
  }
  for (const GgufArchitecture& known : kArchitectures) {
    const bool marked = known.mark.empty() || file.find(known.mark) != nullptr;
    if (known.name == *name && marked) return known;
  }
  std::string names;
  for (const GgufArchitecture& known : kArchitectures) {
    if (!known.mark.empty()) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  fail(ErrorKind::kUnsupported,
       "{}: is of the architecture {}; of GGUF files fovea reads {}: take the model's "
       "safetensors files instead",
       file.source(), quote_name(*name), names);
}

}  // namespace fovea
