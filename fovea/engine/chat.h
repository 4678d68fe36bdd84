// A chat as the model's authors want it written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fovea/engine/engine.h"

namespace fovea {

// Whether the model has a chat template, beside its tokenizer or in its GGUF file.
bool has_chat_template(const Engine& engine);

// The text, or the JSON list of messages in it, written by the model's chat template and cut into
// tokens; the template writes all special tokens itself. `system` is a message before. Throws
// Error{kUnsupported} if the model has no template, and what chat_messages() and ChatTemplate
// throw.
EncodedInput encode_chat(const Engine& engine, std::string_view text,
                         const std::optional<std::string>& system = {});

}  // namespace fovea
