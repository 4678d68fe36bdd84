// How a model's authors want it to generate text: generation_config.json, or the same keys of
// config.json in older folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "fovea/checkpoint/config.h"
#include "fovea/generate/search.h"

namespace fovea {

struct GenerationConfig {
  // beams, length_penalty, early_stopping, stop_ids (eos_token_id) and rules. The caller sets
  // most_tokens, by the member function below.
  SearchOptions search;
  std::optional<int64_t> max_length;      // the prompt counted
  std::optional<int64_t> max_new_tokens;  // the prompt not counted; goes before max_length
  std::optional<int64_t> bos_token_id;
  std::optional<int64_t> pad_token_id;  // never looked at by a search; need not be in a vocabulary
  // The first token of a decoder beside an encoder; bos_token_id if the files name none.
  std::optional<int64_t> decoder_start_token_id;

  // How many tokens transformers would write after a prompt: max_new_tokens, or what max_length
  // leaves, or 20 within a model's positions (0: without a bound). Throws Error{kInvalidArgument}
  // with both numbers if the prompt leaves no room.
  int64_t most_tokens(int64_t prompt, int64_t positions = 0) const;
};

// Reads a configuration. `generation` is the folder's generation_config.json, `config` the model's
// config.json. With `generation`, `config` only gives ids of special tokens that `generation`
// lacks; without it, all keys come from `config`. Keys that only choose how to sample are left to
// the caller. Ids are checked against the vocabulary of `config`, if it names one. Throws
// Error{kBadFile} for a value that cannot be, and Error{kUnsupported} naming a key that asks for a
// search that fovea does not do.
GenerationConfig read_generation_config(const Config& config, const Config* generation = nullptr);

// As above, with the generation_config.json of `folder` if there is one.
GenerationConfig open_generation_config(const std::filesystem::path& folder, const Config& config);

}  // namespace fovea
