#include "fovea/models/check_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {

void check_ids(const Config& config, std::span<const int64_t> ids, int64_t vocabulary) {
  if (ids.empty()) {
    fail(ErrorKind::kInvalidArgument, "there are no tokens to run; give a text that is not empty");
  }
  for (const int64_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      fail(ErrorKind::kInvalidArgument,
           "token id {} is beyond this model's vocabulary of {} ({}); are tokenizer and weights of "
           "the same model?",
           id, vocabulary, config.source());
    }
  }
}

void check_beside(std::string_view name, std::span<const int64_t> values, std::string_view beside,
                  int64_t size) {
  if (!values.empty() && static_cast<int64_t>(values.size()) != size) {
    fail(ErrorKind::kInvalidArgument, "{} has {} entries but {} has {}; they must agree", name,
         values.size(), beside, size);
  }
}

namespace {

// Cells may reach over the edge, so that any picture has some.
void check_cells(int64_t stride, const Tensor& pixels) {
  const int64_t rows = (pixels.size(1) + stride - 1) / stride;
  const int64_t cols = (pixels.size(2) + stride - 1) / stride;
  if (rows > kMostPatches / cols) {
    fail(ErrorKind::kInvalidArgument,
         "the picture is {} x {} pixels, more than {} cells of {} x {}; make it smaller",
         pixels.size(2), pixels.size(1), kMostPatches, stride, stride);
  }
}

void check_patches(const Config& config, const PictureFacts& facts, const Tensor& pixels) {
  const int64_t height = pixels.size(1), width = pixels.size(2);
  if (height < facts.patch_height || width < facts.patch_width) {
    fail(ErrorKind::kInvalidArgument,
         "the picture is {} x {} pixels but one patch of this model is {} x {}; enlarge it", width,
         height, facts.patch_width, facts.patch_height);
  }
  if (!facts.any_size && (height / facts.patch_height != facts.image_height / facts.patch_height ||
                          width / facts.patch_width != facts.image_width / facts.patch_width)) {
    fail(ErrorKind::kInvalidArgument,
         "the picture is {} x {} pixels but this model has positions for {} x {} only ({}); resize "
         "it",
         width, height, facts.image_width, facts.image_height, config.source());
  }
  if (height / facts.patch_height > kMostPatches / (width / facts.patch_width)) {
    fail(ErrorKind::kInvalidArgument,
         "the picture is {} x {} pixels, more than {} patches of {} x {}; make it smaller", width,
         height, kMostPatches, facts.patch_width, facts.patch_height);
  }
}

}  // namespace

void check_pixels(const Config& config, const ModelFacts& facts, const Tensor& pixels) {
  const int64_t channels = facts.picture->channels;
  if (pixels.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "this model sees pictures and needs pixel_values [{}, height, width]; give a picture",
         channels);
  }
  if (pixels.rank() != 3 || pixels.dtype() != DType::kF32 || pixels.size(0) != channels) {
    fail(ErrorKind::kInvalidArgument,
         "pixel_values is {} {} but this model takes F32 [{}, height, width] ({})",
         dtype_name(pixels.dtype()), to_string(pixels.shape()), channels, config.source());
  }
  for (const float value : pixels.values<float>()) {
    if (!std::isfinite(value)) {
      fail(ErrorKind::kInvalidArgument, "pixel_values holds {}; every number must be finite",
           value);
    }
  }
  if (facts.objects) {
    check_cells(facts.objects->stride, pixels);
  } else {
    check_patches(config, *facts.picture, pixels);
  }
}

void refuse_inputs(std::string_view model, const ModelInputs& inputs,
                   std::initializer_list<std::string_view> not_taken) {
  const std::array<std::pair<std::string_view, bool>, 8> given{
      {{"input_ids", !inputs.input_ids.empty()},
       {"token_type_ids", !inputs.token_type_ids.empty()},
       {"attention_mask", !inputs.attention_mask.empty()},
       {"decoder_input_ids", !inputs.decoder_input_ids.empty()},
       {"decoder_attention_mask", !inputs.decoder_attention_mask.empty()},
       {"input_features", !inputs.input_features.empty()},
       {"pixel_values", !inputs.pixel_values.empty()},
       {"pixel_mask", !inputs.pixel_mask.empty()}}};
  for (const auto& [name, is_given] : given) {
    if (is_given && std::ranges::find(not_taken, name) != not_taken.end()) {
      fail(ErrorKind::kInvalidArgument, "{} is given but {} does not take it; leave it out", name,
           model);
    }
  }
}

}  // namespace fovea
