#include "fovea/models/picture_model.h"

#include "fovea/base/error.h"
#include "fovea/layers/numeric_input.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/check_inputs.h"
#include "fovea/ops/feature_map.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/slice.h"

namespace fovea {

void PictureModel::set_classes(FromStates classify) {
  classify_ = std::move(classify);
  facts_.head = HeadKind::kPictureClass;
}

ModelOutputs PictureModel::forward(const ModelInputs& inputs, const Pass& pass) const {
  refuse_inputs("a model of pictures", inputs,
                {"input_ids", "token_type_ids", "attention_mask", "decoder_input_ids",
                 "decoder_attention_mask", "input_features", "pixel_mask"});
  check_pixels(config_, facts_, inputs.pixel_values);
  if (pass.cache != nullptr) {
    fail(ErrorKind::kInvalidArgument, "a model of pictures writes no text; run it without that");
  }
  ModelOutputs outputs;
  PictureStates states = hidden(numeric_input(pass, kPixelValues, inputs.pixel_values), pass);
  outputs.last_hidden_state = std::move(states.normed);
  outputs.states_before_norm = std::move(states.before_norm);
  if (pool_) outputs.pooler_output = pool_(outputs.last_hidden_state);
  if (classify_ && pass.logits != LogitRows::kNone) {
    outputs.logits = classify_(outputs.last_hidden_state);
  }
  return outputs;
}

ModelFacts picture_facts(const AttentionSizes& sizes, int64_t layers, const PatchSizes& patches,
                         std::vector<std::string> front_tokens) {
  ModelFacts facts{.main = stack_facts(sizes, layers)};
  facts.picture = PictureFacts{
      .channels = patches.channels,
      .patch_height = patches.patch_height,
      .patch_width = patches.patch_width,
      .image_height = patches.image_height,
      .image_width = patches.image_width,
      .any_size = patches.rows(patches.image_height) == patches.cols(patches.image_width),
      .front_tokens = std::move(front_tokens)};
  return facts;
}

AttentionSetting patch_setting(const AttentionSizes& sizes) {
  return {.rule = source_rule(sizes.scale(), {}), .row_axis = "patches", .col_axis = "patches"};
}

Value mean_of_rows(const Value& x, int64_t begin) {
  const int64_t count = x.shape()[0] - begin, width = x.shape()[1];
  const Value rows = ops::reshape(ops::slice(x, 0, begin, begin + count), {1, 1, count, width});
  return ops::reshape(ops::average_pool2d(rows, {.kernel = {count, 1}, .stride = {count, 1}}),
                      {1, width});
}

}  // namespace fovea
