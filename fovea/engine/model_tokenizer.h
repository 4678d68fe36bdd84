// The tokenizer that belongs to a checkpoint.
#pragma once

#include "fovea/checkpoint/checkpoint.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// From the folder's files, or from within a GGUF file. Throws Error{kNotFound} if there is none,
// Error{kUnsupported} for kinds that fovea does not read.
Tokenizer tokenizer_of(const Checkpoint& checkpoint);
// That of the texts a translation model writes; tokenizer_of's where one serves both sides.
Tokenizer target_tokenizer_of(const Checkpoint& checkpoint);

// For a model's name alone: works on folders that hold nothing but tokenizer files.
Tokenizer tokenizer_named(std::string_view name);
Tokenizer target_tokenizer_named(std::string_view name);

}  // namespace fovea
