#include "fovea/models/tower_model.h"

#include <gmock/gmock.h>

#include <cmath>

#include "fovea/layers/attention_cache.h"
#include "support/fixture_models.h"
#include "unit/models/picture_inputs.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

// Towers that give what they are told.
Tower made_up(bool pixels, std::vector<float> pooled) {
  const auto width = static_cast<int64_t>(pooled.size());
  ModelFacts facts{.main = {.layers = 1, .heads = 1, .width = width}};
  if (pixels) {
    facts.picture = PictureFacts{.channels = 3,
                                 .patch_height = 8,
                                 .patch_width = 8,
                                 .image_height = 8,
                                 .image_width = 8,
                                 .any_size = true};
  } else {
    facts.text = TextFacts{.vocabulary = 9, .most_tokens = 9};
  }
  const Tensor row = Tensor::from<float>({1, width}, pooled);
  return {.facts = facts,
          .run =
              [row](const ModelInputs&, const Pass&, SiteKind) {
                return TowerOutputs{row, row};
              },
          .embed = [](const Value& x) { return x; }};
}

TEST(TowerModel, SimilarityIsTheCosineScaledAndShifted) {
  const TowerModel model(Config(), made_up(true, {3, 4}), made_up(false, {0, 2}),
                         {.log_scale = std::log(10.0F), .bias = -1});
  ModelInputs both = picture(8, 8);
  both.input_ids = {1};
  const ModelOutputs outputs = model.forward(both, {});
  EXPECT_NEAR(outputs.logits.tensor.values<float>()[0], 10 * 0.8 - 1, 1e-5);
  EXPECT_NEAR(outputs.image_embeds.tensor.values<float>()[0], 0.6, 1e-6);
  EXPECT_TRUE(model.forward(both, {.logits = LogitRows::kNone}).logits.tensor.empty());
}

TEST(TowerModel, AloneItsEmbeddingIsAsLongAsItIs) {
  const TowerModel model(Config(), made_up(true, {3, 4}));
  const ModelOutputs outputs = model.forward(picture(8, 8), {});
  EXPECT_THAT(outputs.image_embeds.tensor.values<float>(), ElementsAre(3, 4));
  EXPECT_THAT(outputs.pooler_output.tensor.values<float>(), ElementsAre(3, 4));
}

TEST(TowerModel, EitherTowerRunsAlone) {
  const auto model = fixture_model("clip_model");
  const ModelOutputs seen = model->forward(picture(32, 32), {});
  EXPECT_TRUE(seen.logits.tensor.empty());
  EXPECT_TRUE(seen.text_embeds.tensor.empty());
  EXPECT_EQ(seen.image_embeds.shape(), Shape({20}));
  const ModelOutputs read = model->forward(caption(), {});
  EXPECT_TRUE(read.logits.tensor.empty());
  EXPECT_TRUE(read.last_hidden_state.tensor.empty());
  EXPECT_EQ(read.text_last_hidden_state.shape(), Shape({3, 24}));
  // Embeddings have the length 1, and the similarity is theirs.
  ModelInputs both = picture(32, 32);
  both.input_ids = caption().input_ids;
  const ModelOutputs outputs = model->forward(both, {});
  double length = 0, cosine = 0;
  for (size_t i = 0; i < 20; ++i) {
    const double image = seen.image_embeds.tensor.values<float>()[i];
    length += image * image;
    cosine += image * double{read.text_embeds.tensor.values<float>()[i]};
  }
  EXPECT_NEAR(length, 1, 1e-6);
  const float log_scale = open_checkpoint(parity_folder("clip_model").string())
                              .weights.tensor("logit_scale")
                              .values<float>()[0];
  EXPECT_NEAR(outputs.logits.tensor.values<float>()[0], cosine * std::exp(double{log_scale}), 1e-5);
}

TEST(TowerModel, SitesSayWhichTowerAttends) {
  ModelInputs both = picture(32, 32);
  both.input_ids = {7, 8, 9};
  EXPECT_THAT(
      sites(*fixture_model("clip_model"), both),
      ElementsAre("vision.self.0", "vision.self.1", "text.self.0", "text.self.1", "text.self.2"));
  EXPECT_THAT(sites(*fixture_model("siglip_model"), both),
              ElementsAre("vision.self.0", "vision.self.1", "text.self.0", "pool.0"));
  EXPECT_THAT(sites(*fixture_model("siglip_vision"), picture(32, 32)),
              ElementsAre("self.0", "self.1", "pool.0"));
  EXPECT_THAT(sites(*fixture_model("clip_text"), caption()),
              ElementsAre("self.0", "self.1", "self.2"));
}

TEST(TowerModel, WhatItCannotTakeIsRefused) {
  for (const char* name : {"clip_model", "siglip_model"}) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    EXPECT_TRUE(refused(*model, "neither a picture nor a text", {}));
    EXPECT_TRUE(refused(*model, "beyond this model's vocabulary", caption({7, 60})));
    EXPECT_TRUE(refused(*model, "beyond this model's vocabulary", caption({-1})));
    EXPECT_TRUE(refused(*model, "20", caption(std::vector<int64_t>(21, 7))));
    ModelInputs inputs = caption();
    inputs.attention_mask = {1, 1};
    EXPECT_TRUE(refused(*model, "attention_mask has 2 entries", inputs));
    inputs = picture(32, 32);
    inputs.attention_mask = {1, 1};  // beside no text
    EXPECT_TRUE(refused(*model, "no tokens", inputs));
    inputs = caption();
    inputs.token_type_ids = {0, 0, 0};
    EXPECT_TRUE(refused(*model, "token_type_ids is given", inputs));
    EXPECT_TRUE(refused(*model, "one patch of this model", picture(7, 7)));
    AttentionCache cache;
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "writes no text",
                           [&] { model->forward(caption(), {.cache = &cache}); }));
  }
}

}  // namespace
}  // namespace fovea
