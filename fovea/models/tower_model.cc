#include "fovea/models/tower_model.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/layers/heads.h"
#include "fovea/layers/text_mask.h"
#include "fovea/models/check_inputs.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/norm.h"

namespace fovea {
namespace {

// x [1, width] divided by its length.
Value of_length_one(const Value& x) {
  const auto width = static_cast<float>(x.shape().back());
  return ops::scale(ops::rms_norm(x, {}, 0), 1 / std::sqrt(width));
}

ModelFacts facts_of_both(const ModelFacts& picture, const ModelFacts& text,
                         const Similarity& similarity) {
  ModelFacts facts = picture;
  facts.text_tower = text.main;
  facts.text = text.text;
  facts.head = HeadKind::kSimilarity;
  facts.similarity = SimilarityFacts{.scale = std::exp(double{similarity.log_scale}),
                                     .bias = similarity.bias,
                                     .sigmoid = similarity.sigmoid};
  return facts;
}

}  // namespace

TowerModel::TowerModel(const Config& config, Tower tower) : config_(config), facts_(tower.facts) {
  if (tower.classify) facts_.head = HeadKind::kPictureClass;
  (facts_.takes_pixels() ? picture_ : text_) = std::move(tower);
}

TowerModel::TowerModel(const Config& config, Tower picture, Tower text, Similarity similarity)
    : config_(config),
      facts_(facts_of_both(picture.facts, text.facts, similarity)),
      picture_(std::move(picture)),
      text_(std::move(text)),
      similarity_(similarity) {}

void TowerModel::check(const ModelInputs& inputs, const Pass& pass) const {
  const char* what = similarity_ ? "a model of pictures and texts"
                     : picture_  ? "a model of pictures"
                                 : "a model of texts";
  refuse_inputs(what, inputs,
                {"token_type_ids", "decoder_input_ids", "decoder_attention_mask", "input_features",
                 "pixel_mask"});
  if (!text_) refuse_inputs(what, inputs, {"input_ids", "attention_mask"});
  if (!picture_) refuse_inputs(what, inputs, {"pixel_values"});
  if (pass.cache != nullptr) {
    fail(ErrorKind::kInvalidArgument, "{} writes no text; run it without that", what);
  }
  if (!pass.texts.empty()) {
    fail(ErrorKind::kUnsupported, "{} reads one text at a time; run texts one by one", what);
  }
  const bool sees = !inputs.pixel_values.empty();
  const bool reads = !inputs.input_ids.empty() || !inputs.attention_mask.empty();
  if (picture_ && (sees || !text_)) check_pixels(config_, facts_, inputs.pixel_values);
  if (text_ && (reads || !picture_)) {
    check_ids(config_, inputs.input_ids, facts_.text->vocabulary);
    check_beside("attention_mask", inputs.attention_mask, "input_ids", inputs.tokens());
    check_length(config_, inputs.tokens(), facts_.text->most_tokens);
  }
  if (similarity_ && !sees && !reads) {
    fail(ErrorKind::kInvalidArgument,
         "there is neither a picture nor a text to run; give pixel_values, input_ids or both");
  }
}

ModelOutputs TowerModel::run_alone(const ModelInputs& inputs, const Pass& pass) const {
  const Tower& tower = picture_ ? *picture_ : *text_;
  const TowerOutputs made = tower.run(inputs, pass, SiteKind::kSelf);
  ModelOutputs outputs{.last_hidden_state = made.states};
  outputs.states_before_norm = made.before_norm;
  if (!made.pooled.tensor.empty()) outputs.pooler_output = as_vector(made.pooled);
  if (tower.embed && !made.pooled.tensor.empty()) {
    (picture_ ? outputs.image_embeds : outputs.text_embeds) = as_vector(tower.embed(made.pooled));
  }
  if (tower.classify && pass.logits != LogitRows::kNone) {
    outputs.logits = tower.classify(made.states);
  }
  return outputs;
}

ModelOutputs TowerModel::forward(const ModelInputs& inputs, const Pass& pass) const {
  check(inputs, pass);
  if (!similarity_) return run_alone(inputs, pass);
  ModelOutputs outputs;
  Value image, text;
  if (!inputs.pixel_values.empty()) {
    const TowerOutputs made = picture_->run(inputs, pass, SiteKind::kVisionSelf);
    image = of_length_one(picture_->embed(made.pooled));
    outputs.last_hidden_state = made.states;
    outputs.states_before_norm = made.before_norm;
    outputs.image_embeds = as_vector(image);
  }
  if (!inputs.input_ids.empty()) {
    const TowerOutputs made = text_->run(inputs, pass, SiteKind::kTextSelf);
    text = of_length_one(text_->embed(made.pooled));
    outputs.text_last_hidden_state = made.states;
    outputs.text_embeds = as_vector(text);
  }
  if (!image.tensor.empty() && !text.tensor.empty() && pass.logits != LogitRows::kNone) {
    const Value cosine = as_vector(ops::linear(image, text));
    outputs.logits = ops::add(ops::scale(cosine, std::exp(similarity_->log_scale)),
                              Tensor::from<float>({1}, std::vector{similarity_->bias}));
  }
  return outputs;
}

}  // namespace fovea
