// config.json of decoders whose GGUF files hold more than Llama's, or name it otherwise.
#pragma once

#include "fovea/base/json.h"
#include "fovea/checkpoint/gguf_keys.h"

namespace fovea {

// Sizes, lengths and rotary positions, as most decoders have them. `epsilon_key` is the norms' name
// in config.json; `rms` says which of llama.cpp's names the file has.
void set_decoder_sizes(Json& json, const GgufKeys& keys, std::string_view epsilon_key, bool rms);
// Refuses files that rotate a part of each head.
void refuse_partial_rotation(const Json& json, const GgufKeys& keys);
// "num_local_experts" or what the family calls it, and how many a token takes.
void set_experts(Json& json, const GgufKeys& keys, std::string_view experts_key);

void set_gemma2(Json& json, const GgufKeys& keys);
void set_phi2(Json& json, const GgufKeys& keys);
void set_phi3(Json& json, const GgufKeys& keys);
void set_granite(Json& json, const GgufKeys& keys);
void set_starcoder2(Json& json, const GgufKeys& keys);
void set_command_r(Json& json, const GgufKeys& keys);
void set_olmo2(Json& json, const GgufKeys& keys);
void set_falcon(Json& json, const GgufKeys& keys);
void set_bloom(Json& json, const GgufKeys& keys);
void set_mpt(Json& json, const GgufKeys& keys);
void set_nomic_bert(Json& json, const GgufKeys& keys);
void set_qwen3_moe(Json& json, const GgufKeys& keys);
void set_gpt_oss(Json& json, const GgufKeys& keys);

}  // namespace fovea
