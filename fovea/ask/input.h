// What a model runs on. The front end opens files; a text is never guessed to be a file's name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "fovea/ask/field.h"
#include "fovea/ask/picture_bytes.h"
#include "fovea/engine/translator.h"
#include "fovea/generate/generate.h"
#include "fovea/vision/picture.h"

namespace fovea {

struct Text {
  std::string text;
};

// The text, or the list of messages in it, as the model's chat template writes it.
struct Chat {
  std::optional<std::string> system = {};  // a message before it
};

struct Input {
  std::variant<std::monostate, Text, PictureBytes, ModelInputs> what;
  std::optional<std::string> pair = {};  // a second text, for models that compare two
  std::optional<Chat> chat = {};         // the text is said to a chat model
  // For a picture, instead of its preprocessor's size; kKeepShape: in its own shape.
  std::optional<PictureSize> size = {};
  TranslateOptions translate = {};  // for models with a decoder
  Languages languages = {};
  std::optional<GenerateOptions> generate = {};  // a causal model continues the text
};

// The fields of an input in JSON: "text", "pair", "chat", "target", "beam", "generate", ...
std::span<const FieldInfo> input_fields();

// Throws as checked_fields() does. Without a text, `what` is empty: the caller may put a picture or
// tensors there, which JSON does not hold.
Input parse_input(const Json& json);
// What was given: a text as parse_input() takes it; of a picture its name, not its bytes.
Json to_json(const Input& input);

}  // namespace fovea
