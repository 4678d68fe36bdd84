// How models of each architecture lie in GGUF files: names, rows in another order, offsets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fovea/checkpoint/gguf.h"

namespace fovea {

struct GgufName {
  std::string_view stored;  // "attn_q": of a block behind "blk.N."
  std::string_view hub;     // "self_attn.q_proj": of a block behind "<blocks>N."
};

struct GgufArchitecture {
  std::string_view name;        // general.architecture
  std::string_view model_type;  // of config.json
  std::string_view class_name;
  std::string_view blocks;  // "model.layers."
  std::span<const GgufName> top_names;
  std::span<const GgufName> block_names;
  bool mixes_halves = false;   // rows of q and k
  bool transposes = false;     // matrices of blocks, which GPT-2 has as [in, out]
  float norm_offset = 0;       // what stored norms have too much
  std::string_view mark = {};  // a tensor that only files of this form have; empty: any of the name

  // "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; the name itself if it is
  // none of this architecture's.
  std::string hub_name(std::string_view stored) const;
};

// Throws Error{kUnsupported} for another architecture than those that fovea reads, and
// Error{kBadFile} if the file names none.
const GgufArchitecture& gguf_architecture(const GgufFile& file);
// nullptr if fovea does not read it.
const GgufArchitecture* find_gguf_architecture(std::string_view name);

}  // namespace fovea
