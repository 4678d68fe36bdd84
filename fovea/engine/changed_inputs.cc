#include "fovea/engine/changed_inputs.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

void check_position(const Axis& axis, int64_t position) {
  const auto count = static_cast<int64_t>(axis.positions.size());
  if (position >= 0 && position < count) return;
  fail(ErrorKind::kInvalidArgument, "position {} is to be blank but the {} have {}", position,
       axis.name, count);
}

int64_t blank_token(const Engine& engine, const Tokenizer* tokenizer) {
  for (const char* role : {"mask_token", "unk_token", "pad_token"}) {
    if (tokenizer == nullptr) break;
    if (const auto id = tokenizer->role(role)) return *id;
  }
  fail(ErrorKind::kUnsupported,
       "{} has no token that stands for nothing (mask, unknown or padding), so that no word can be "
       "blank; take hide instead, or of integrated gradients the baseline zero",
       engine.name());
}

void blank_patch(const Axis& axis, int64_t position, Tensor& pixels) {
  const int64_t patch =
      position - (static_cast<int64_t>(axis.positions.size()) - axis.grid_rows * axis.grid_cols);
  if (patch < 0) {
    fail(ErrorKind::kInvalidArgument,
         "{} is no part of the picture and cannot be blank; hide it from attention instead",
         axis.positions[static_cast<size_t>(position)].text);
  }
  // Cells of a feature grid may reach over the edge.
  const int64_t height = (pixels.size(1) + axis.grid_rows - 1) / axis.grid_rows;
  const int64_t width = (pixels.size(2) + axis.grid_cols - 1) / axis.grid_cols;
  const int64_t top = patch / axis.grid_cols * height, left = patch % axis.grid_cols * width;
  for (int64_t channel = 0; channel < pixels.size(0); ++channel) {
    const MatrixView<float> plane = pixels.mutable_matrix<float>(channel);
    for (int64_t y = top; y < std::min(top + height, pixels.size(1)); ++y) {
      for (int64_t x = left; x < std::min(left + width, pixels.size(2)); ++x) plane(y, x) = 0;
    }
  }
}

}  // namespace

ModelInputs changed_inputs(const Engine& engine, const EncodedInput& input,
                           const std::vector<Intervention>& changes) {
  ModelInputs inputs = input.inputs;
  bool own_pixels = false;
  for (const Intervention& change : changes) {
    const auto* blank = std::get_if<BlankPosition>(&change);
    if (blank == nullptr) continue;
    const auto place = static_cast<size_t>(blank->position);
    if (!input.patches.positions.empty() && blank->axis == input.patches.name) {
      check_position(input.patches, blank->position);
      if (!std::exchange(own_pixels, true)) inputs.pixel_values = inputs.pixel_values.clone();
      blank_patch(input.patches, blank->position, inputs.pixel_values);
    } else if (blank->axis == "target") {
      check_position(input.target, blank->position);
      inputs.decoder_input_ids[place] = blank_token(engine, engine.find_target_tokenizer());
    } else if (!inputs.input_ids.empty()) {
      check_position(input.axis, blank->position);
      inputs.input_ids[place] = blank_token(engine, engine.find_tokenizer());
    } else {
      fail(ErrorKind::kUnsupported,
           "positions of the {} cannot be blank in {}; hide them from attention instead",
           blank->axis, engine.name());
    }
  }
  return inputs;
}

}  // namespace fovea
