// The numbers that a model starts from: embeddings of words, pixels, sound. Every model reads them
// here, so that a gradient run can follow them, or start from other numbers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "fovea/layers/pass.h"
#include "fovea/ops/tape.h"
#include "fovea/tensor/stored_matrix.h"

namespace fovea {

// The names that transformers gives them.
inline constexpr std::string_view kInputsEmbeds = "inputs_embeds";
inline constexpr std::string_view kDecoderInputsEmbeds = "decoder_inputs_embeds";
inline constexpr std::string_view kPixelValues = "pixel_values";
inline constexpr std::string_view kInputFeatures = "input_features";

struct NumericInputs {
  std::map<std::string, Tensor, std::less<>> given;  // used instead of the model's own
  std::map<std::string, Value, std::less<>> read;    // what the run read, watched if it has a tape
};

// Returns `own`, or the numbers given instead. Throws Error{kInvalidArgument} unless those have its
// shape.
Value numeric_input(const Pass& pass, std::string_view name, const Tensor& own);

// Rows of a table of words, times `scale`, as such an input [ids, width].
Value embed_words(const Pass& pass, std::string_view name, const StoredMatrix& table,
                  std::span<const int64_t> ids, float scale = 1);

}  // namespace fovea
