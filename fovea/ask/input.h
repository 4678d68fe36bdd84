// What a model is run on. Files are opened by the front end and never guessed from a text.
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

struct Input {
  std::variant<std::monostate, Text, PictureBytes, ModelInputs> what;
  std::optional<std::string> pair = {};  // a second text, for models that compare two
  std::optional<PictureSize> size = {};  // of a picture, instead of what its preprocessor says
  TranslateOptions translate = {};       // of models with a decoder
  Languages languages = {};
  std::optional<GenerateOptions> generate = {};  // a causal model goes on writing
};

// Of an input as JSON: "text", "pair", "target", "beam", "generate", ...
std::span<const FieldInfo> input_fields();

// Throws as checked_fields() does. Without a text `what` holds nothing: a picture or tensors, which
// are no JSON, may be put there.
Input parse_input(const Json& json);
// What was given: of a text as parse_input takes it, of a picture its name and not its bytes.
Json to_json(const Input& input);

}  // namespace fovea
