// The tokenizer that belongs to a checkpoint.
#pragma once

#include "fovea/checkpoint/checkpoint.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// Opens the tokenizer from the folder's files, or from inside a GGUF file. Throws Error{kNotFound}
// if there is none, and Error{kUnsupported} for kinds that fovea does not read.
Tokenizer tokenizer_of(const Checkpoint& checkpoint);
// The tokenizer of the texts that a translation model writes. If one serves both sides, it is
// tokenizer_of()'s.
Tokenizer target_tokenizer_of(const Checkpoint& checkpoint);

// Opens a tokenizer by the model's name alone. The folder may hold nothing but tokenizer files.
Tokenizer tokenizer_named(std::string_view name);
Tokenizer target_tokenizer_named(std::string_view name);

}  // namespace fovea
