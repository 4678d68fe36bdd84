// Tests what picture models accept and refuse; tests/parity checks their numbers.
#include "fovea/models/picture_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "fovea/layers/attention_cache.h"
#include "fovea/models/dinov2_model.h"
#include "fovea/models/vit_model.h"
#include "support/errors.h"
#include "support/fixture_models.h"
#include "support/random.h"
#include "unit/models/picture_inputs.h"

namespace fovea {
namespace {

using fovea::support::random_tensor;
using ::testing::ElementsAre;

constexpr const char* kOneTower[] = {"vit_model",        "deit_teacher", "dinov2_model",
                                     "dinov2_registers", "dinov3_model", "clip_vision",
                                     "siglip_vision"};

TEST(PictureModel, PicturesThatItCannotSeeAreRefused) {
  for (const char* name : kOneTower) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    const int64_t side = model->facts().picture->patch_height;
    EXPECT_TRUE(refused(*model, "needs pixel_values [3, height, width]", {}));
    EXPECT_TRUE(refused(*model, "takes F32 [3, height, width]", picture(32, 32, 4)));
    EXPECT_TRUE(refused(*model, "takes F32 [3, height, width]", picture(32, 32, 1)));
    ModelInputs batch;
    batch.pixel_values = random_tensor({2, 3, 32, 32}, 1);
    EXPECT_TRUE(refused(*model, "[2, 3, 32, 32]", batch));
    EXPECT_TRUE(refused(*model, "one patch of this model", picture(side - 1, 64)));
    EXPECT_TRUE(refused(*model, "one patch of this model", picture(64, side - 1)));
    ModelInputs halves = picture(32, 32);
    halves.pixel_values = Tensor(Shape{3, 32, 32}, DType::kF16);
    EXPECT_TRUE(refused(*model, "is F16", halves));
    ModelInputs broken = picture(32, 32);
    broken.pixel_values.mutable_values<float>()[77] = NAN;
    EXPECT_TRUE(refused(*model, "holds nan", broken));
    broken.pixel_values.mutable_values<float>()[77] = -std::numeric_limits<float>::infinity();
    EXPECT_TRUE(refused(*model, "holds -inf", broken));
    // One row of patches, one too many.
    ModelInputs huge;
    huge.pixel_values = Tensor(Shape{3, side, (kMostPatches + 1) * side});
    EXPECT_TRUE(refused(*model, "more than 262144 patches", huge));
  }
}

// After a layer norm y = w z + b with the same w and b for all rows, z the row made to mean 0 and
// variance 1: so in each column the points (z, y) of any three rows lie on one line.
double off_the_line(MatrixView<const float> before, MatrixView<const float> after) {
  std::vector<std::vector<double>> z(3);
  for (int64_t row = 0; row < 3; ++row) {
    double mean = 0, square = 0;
    for (int64_t d = 0; d < before.cols; ++d) mean += before(row, d);
    mean /= static_cast<double>(before.cols);
    for (int64_t d = 0; d < before.cols; ++d) square += std::pow(before(row, d) - mean, 2);
    const double deviation = std::sqrt(square / static_cast<double>(before.cols));
    for (int64_t d = 0; d < before.cols; ++d) {
      z[static_cast<size_t>(row)].push_back((before(row, d) - mean) / deviation);
    }
  }
  double largest = 0;
  for (int64_t d = 0; d < before.cols; ++d) {
    const auto i = static_cast<size_t>(d);
    largest = std::max(largest, std::abs((z[1][i] - z[0][i]) * (after(2, d) - after(0, d)) -
                                         (z[2][i] - z[0][i]) * (after(1, d) - after(0, d))));
  }
  return largest;
}

TEST(PictureModel, TellsItsStatesBeforeTheFinalNorm) {
  for (const char* name : kOneTower) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    const int64_t side = 2 * model->facts().picture->patch_height;
    const ModelOutputs outputs = model->forward(picture(side, 2 * side), {});
    const Tensor& before = outputs.states_before_norm.tensor;
    const Tensor& after = outputs.last_hidden_state.tensor;
    ASSERT_EQ(before.shape(), after.shape());
    if (std::string_view(name) == "clip_vision") {  // its norm is for [CLS] alone
      EXPECT_EQ(std::memcmp(before.raw(), after.raw(), before.bytes()), 0);
      continue;
    }
    EXPECT_NE(std::memcmp(before.raw(), after.raw(), before.bytes()), 0);
    // Products of float32 numbers of about 3, and the norm's epsilon is left out; other states are
    // off by 1 and more.
    EXPECT_LT(off_the_line(before.matrix<float>(), after.matrix<float>()), 1e-2);
  }
  ModelInputs both = caption();
  both.pixel_values = random_tensor({3, 32, 32}, 5);
  EXPECT_FALSE(fixture_model("siglip_model")->forward(both, {}).states_before_norm.tensor.empty());
  EXPECT_TRUE(fixture_model("clip_text")->forward(caption(), {}).states_before_norm.tensor.empty());
}

TEST(PictureModel, OtherInputsAreRefusedByName) {
  for (const char* name : kOneTower) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    ModelInputs inputs = picture(32, 32);
    inputs.input_ids = {7, 8};
    EXPECT_TRUE(refused(*model, "input_ids is given but a model of pictures", inputs));
    inputs = picture(32, 32);
    inputs.attention_mask = {1};
    EXPECT_TRUE(refused(*model, "attention_mask is given", inputs));
    inputs = picture(32, 32);
    inputs.input_features = Tensor(Shape{2, 2});
    EXPECT_TRUE(refused(*model, "input_features is given", inputs));
    AttentionCache cache;
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "writes no text",
                           [&] { model->forward(picture(32, 32), {.cache = &cache}); }));
  }
  for (const char* name : {"bert_model", "marian_mt", "whisper_tiny", "clip_text"}) {
    if (!std::filesystem::exists(parity_folder(name))) continue;
    ModelInputs inputs = picture(32, 32);
    inputs.input_ids = {7, 8};
    EXPECT_TRUE(refused(*fixture_model(name), "", inputs)) << name;
  }
  ModelInputs inputs = picture(32, 32);
  inputs.input_ids = {7, 8};
  EXPECT_TRUE(refused(*fixture_model("bert_model"), "pixel_values is given", inputs));
  EXPECT_TRUE(refused(*fixture_model("clip_text"), "pixel_values is given", inputs));
}

TEST(PictureModel, ATableThatIsNoSquareIsForItsOwnSizeOnly) {
  const auto model = fixture_model("vit_not_square");
  EXPECT_FALSE(model->facts().picture->any_size);
  model->forward(picture(24, 40), {});
  model->forward(picture(31, 49), {});  // the same 3 x 4 patches
  EXPECT_TRUE(refused(*model, "has positions for 40 x 24 only", picture(40, 24)));
  EXPECT_TRUE(refused(*model, "has positions for 40 x 24 only", picture(32, 40)));
  EXPECT_TRUE(fixture_model("vit_model")->facts().picture->any_size);
  EXPECT_TRUE(fixture_model("dinov3_model", {{"image_size", Json::array_of(std::array{8, 64})}})
                  ->facts()
                  .picture->any_size);
}

TEST(PictureModel, FactsSayHowPicturesAreCut) {
  const ModelFacts deit = fixture_model("deit_teacher")->facts();
  EXPECT_TRUE(deit.takes_pixels());
  EXPECT_FALSE(deit.takes_text());
  EXPECT_EQ(deit.head, HeadKind::kPictureClass);
  EXPECT_THAT(deit.picture->front_tokens, ElementsAre("[CLS]", "[DIST]"));
  EXPECT_EQ(deit.picture->patch_height, 8);
  EXPECT_EQ(deit.picture->image_width, 32);
  EXPECT_EQ(deit.attentions(), 2);
  EXPECT_THAT(fixture_model("dinov2_registers")->facts().picture->front_tokens,
              ElementsAre("[CLS]", "[REG 1]", "[REG 2]", "[REG 3]"));
  EXPECT_TRUE(fixture_model("dinov3_model")->facts().main.rotary);
  const ModelFacts both = fixture_model("siglip_model")->facts();
  EXPECT_EQ(both.main.layers, 2);
  ASSERT_TRUE(both.has_text_tower());
  EXPECT_EQ(both.text_tower->layers, 1);
  EXPECT_EQ(both.text_tower->heads, 2);
  EXPECT_EQ(both.text_tower->width, 24);
  EXPECT_EQ(both.attentions(), 4);
  EXPECT_EQ(both.head, HeadKind::kSimilarity);
  EXPECT_TRUE(both.picture->front_tokens.empty());
}

TEST(PictureModel, FactsOfTwoTowersSayWhichOneReads) {
  const ModelFacts both = fixture_model("clip_model")->facts();
  EXPECT_TRUE(both.takes_pixels() && both.takes_text());
  EXPECT_FALSE(both.main.causal);
  ASSERT_TRUE(both.has_text_tower());
  EXPECT_TRUE(both.text_tower->causal);
  EXPECT_EQ(&both.text_stack(), &*both.text_tower);
  EXPECT_TRUE(both.similarity.has_value());
  const ModelFacts alone = fixture_model("clip_text")->facts();
  EXPECT_FALSE(alone.has_text_tower() || alone.takes_pixels());
  EXPECT_EQ(&alone.text_stack(), &alone.main);
  EXPECT_TRUE(alone.main.causal);
}

TEST(PictureModel, LogitsAreMadeOnlyIfAsked) {
  const auto model = fixture_model("vit_image");
  EXPECT_EQ(model->forward(picture(32, 32), {}).logits.shape(), Shape({3}));
  EXPECT_TRUE(model->forward(picture(32, 32), {.logits = LogitRows::kNone}).logits.tensor.empty());
}

TEST(PictureModel, SitesAreSelfAndRecordsCountAlongPatches) {
  const auto model = fixture_model("vit_model");
  Recorder recorder;
  model->forward(picture(24, 32), {.recorder = &recorder});
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(to_string(records[1]->site), "self.1");
  EXPECT_EQ(records[1]->row_axis, "patches");
  EXPECT_EQ(records[1]->col_axis, "patches");
  EXPECT_EQ(records[1]->shape().rows, 1 + 3 * 4);
}

// A block with LayerScale records the weights that it really adds with.
TEST(PictureModel, TheRecordedOutputWeightHoldsTheLayerScale) {
  const auto model = fixture_model("dinov2_model");
  Recorder recorder({.block = true});
  model->forward(picture(28, 28), {.recorder = &recorder});
  const auto record = recorder.take().front();
  const Weights weights = open_checkpoint(parity_folder("dinov2_model").string()).weights;
  const Tensor stored = weights.tensor("encoder.layer.0.attention.output.dense.weight");
  const Tensor scale = weights.tensor("encoder.layer.0.layer_scale1.lambda1");
  for (const size_t row : {size_t{0}, size_t{5}}) {
    EXPECT_FLOAT_EQ(record->block->output_weight.values<float>()[row * 28 + 3],
                    stored.values<float>()[row * 28 + 3] * scale.values<float>()[row]);
  }
}

ModelSource source_of(std::string_view fixture) {
  const Checkpoint checkpoint = open_checkpoint(parity_folder(fixture).string());
  return {checkpoint.config, {checkpoint.weights, DType::kF32}};
}

float first_state(const Model& model, const ModelInputs& inputs) {
  return model.forward(inputs, {}).last_hidden_state.tensor.values<float>()[0];
}

TEST(Dinov2Model, TheFilterMattersForOtherSizesOnly) {
  const ModelSource source = source_of("dinov2_model");
  const Dinov2Model plain(source, {});
  const Dinov2Model antialias(source, {.positions = BicubicFilter::kAntialias});
  EXPECT_EQ(first_state(plain, picture(28, 28)), first_state(antialias, picture(28, 28)));
  EXPECT_NE(first_state(plain, picture(14, 28)), first_state(antialias, picture(14, 28)));
}

TEST(VitModel, TheSecondTokenMustBeInTheFile) {
  const ModelSource source = source_of("vit_model");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "distillation_token",
                         [&] { VitModel(source, {.distilled = true}); }));
}

// Each of these must be told apart from a file that is right, and none may crash or allocate much.
TEST(PictureConfig, HostileNumbersAreRefused) {
  struct Case {
    const char* fixture;
    const char* key;
    Json value;
  };
  const std::vector<Case> cases{
      {"vit_model", "hidden_size", 41},
      {"vit_model", "hidden_size", int64_t{1} << 40},
      {"vit_model", "hidden_size", 2147483645},
      {"vit_model", "num_attention_heads", 0},
      {"vit_model", "num_attention_heads", 3},
      {"vit_model", "num_hidden_layers", 100000},
      {"vit_model", "num_hidden_layers", 3},
      {"vit_model", "intermediate_size", -4},
      {"vit_model", "image_size", 40},
      {"vit_model", "image_size", "32"},
      {"vit_model", "patch_size", 0},
      {"vit_model", "num_channels", 0},
      {"vit_model", "pooler_output_size", 18},
      {"vit_model", "hidden_act", "telu"},
      {"vit_model", "qkv_bias", 1},
      {"deit_teacher", "image_size", 24},
      {"dinov2_model", "mlp_ratio", 0},
      {"dinov2_model", "mlp_ratio", -1},
      {"dinov2_model", "mlp_ratio", 1e9},
      {"dinov2_model", "mlp_ratio", 3},
      {"dinov2_model", "use_swiglu_ffn", true},
      {"dinov2_registers", "num_register_tokens", 4},
      {"dinov2_registers", "num_register_tokens", -1},
      {"dinov3_model", "num_register_tokens", 1000000},
      {"dinov3_model", "rope_theta", 0},
      {"dinov3_model", "rope_theta", -100},
      {"dinov3_model", "num_attention_heads", 6},
      {"dinov3_model", "use_gated_mlp", true},
      {"dinov3_model", "key_bias", true},
      {"clip_model", "projection_dim", 21},
      {"clip_model", "vision_config", 3},
      {"clip_model", "text_config", Json::object()},
      {"clip_vision", "patch_size", 16},
      {"clip_text", "vocab_size", 61},
      {"clip_text", "max_position_embeddings", 77},
      {"siglip_text", "projection_size", 5},
      {"siglip_vision_no_head", "vision_use_head", true},
  };
  for (const auto& [fixture, key, value] : cases) {
    EXPECT_TRUE(fails_cleanly([&] {
      fixture_model(fixture, {{key, value}});
    })) << fixture
        << " " << key << " " << value.dump();
  }
}

}  // namespace
}  // namespace fovea
