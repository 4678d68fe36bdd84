// The tokenizer within a GGUF file, as its metadata has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fovea {

// Texts are borrowed. The keys are those of "tokenizer.ggml."; what a file leaves out has the
// value that llama.cpp takes.
struct GgufVocabulary {
  std::string_view kind;                 // model: "gpt2", "llama" or "bert"
  std::string_view pre;                  // how words are cut, of gpt2
  std::vector<std::string_view> tokens;  // by id
  std::vector<std::string_view> merges;  // of gpt2: "left right"
  std::vector<float> scores;             // of llama
  std::vector<int64_t> token_types;      // may be empty: all normal
  std::optional<int64_t> bos, eos, unknown, separator, padding, cls, mask;
  std::optional<bool> add_bos, add_eos, add_separator, add_space_prefix;
};

}  // namespace fovea
