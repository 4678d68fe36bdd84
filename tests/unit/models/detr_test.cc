// Tests what parity does not show about DETR: what it refuses, and what it keeps beside the maps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "fovea/models/model.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/fixture_models.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;

ModelInputs detector_picture(int64_t height, int64_t width) {
  ModelInputs inputs;
  inputs.pixel_values = random_tensor({3, height, width}, 5);
  return inputs;
}

Tensor ones(int64_t height, int64_t width) {
  return Tensor::from({height, width},
                      std::vector<int64_t>(static_cast<size_t>(height * width), 1));
}

TEST(Detr, FactsSayWhatItFinds) {
  const ModelFacts facts = fixture_model("detr_objects")->facts();
  EXPECT_TRUE(facts.finds_objects());
  EXPECT_FALSE(facts.has_decoder());  // no target to read
  EXPECT_EQ(facts.decoder->layers, 3);
  EXPECT_FALSE(facts.has_mask_head());
  EXPECT_EQ(facts.objects->queries, 7);
  EXPECT_EQ(facts.objects->stride, 32);
  EXPECT_EQ(facts.attentions(), 2 + 2 * 3);
  EXPECT_EQ(facts.head, HeadKind::kObjects);
  EXPECT_EQ(fixture_model("detr_basic")->facts().objects->stride, 16);
  EXPECT_EQ(fixture_model("detr_dc5")->facts().objects->stride, 16);
  EXPECT_EQ(fixture_model("detr_model")->facts().objects->stride, 64);
  EXPECT_EQ(fixture_model("detr_model")->facts().head, HeadKind::kNone);
  EXPECT_EQ(fixture_model("detr_panoptic")->facts().attentions(), 2 + 2 * 3 + 1);
}

TEST(Detr, TheMapsOfAMaskSumToOneOverAllHeads) {
  Recorder recorder;
  fixture_model("detr_panoptic")
      ->forward(detector_picture(100, 140), {.recorder = &recorder, .logits = LogitRows::kNone});
  const auto records = recorder.take();
  const AttentionRecord& record = *records.back();
  ASSERT_EQ(record.site, (SiteId{SiteKind::kPanoptic, 0}));
  EXPECT_EQ(record.row_axis, "queries");
  EXPECT_EQ(record.col_axis, "cells");
  const AttentionShape shape = record.shape();
  for (int64_t row = 0; row < shape.rows; ++row) {
    double sum = 0;
    for (int64_t head = 0; head < shape.heads; ++head) {
      const auto at = static_cast<size_t>(head * shape.rows + row);
      EXPECT_EQ(record.lse.values<double>()[at],
                record.lse.values<double>()[static_cast<size_t>(row)]);
      for (int64_t col = 0; col < shape.cols; ++col) {
        const auto part = [&](const Tensor& tensor, int64_t index) {
          return std::span(tensor.matrix<float>(head).row(index),
                           static_cast<size_t>(shape.head_dim));
        };
        sum += std::exp(reference_score(record.rule, shape, head, row, col,
                                        part(record.queries, row), part(record.keys, col)) -
                        record.lse.values<double>()[at]);
      }
    }
    EXPECT_NEAR(sum, 1, 1e-5);  // scores in f32
  }
}

TEST(Detr, KeepsWhatPositionsAddedToQueriesAndKeys) {
  const Checkpoint checkpoint = open_checkpoint(parity_folder("detr_objects").string());
  Recorder recorder({.positions = true});
  fixture_model("detr_objects")->forward(detector_picture(100, 140), {.recorder = &recorder});
  const auto records = recorder.take();
  for (const auto& record : records) ASSERT_TRUE(record->positions.has_value());
  // Object queries start at 0, so that in the first layer all of Q and K but the bias is position.
  const auto first = std::ranges::find_if(records, [](const auto& record) {
    return record->site == SiteId{SiteKind::kDecoderSelf, 0};
  });
  const AttentionShape shape = (*first)->shape();
  for (const auto& [name, whole, part] :
       {std::tuple{"q_proj", (*first)->queries, (*first)->positions->queries},
        std::tuple{"k_proj", (*first)->keys, (*first)->positions->keys}}) {
    const Tensor bias = checkpoint.weights["model.decoder.layers.0.self_attn"].tensor(
        std::string(name) + ".bias", {shape.heads * shape.head_dim}, DType::kF32);
    std::vector<double> expected;
    for (int64_t head = 0; head < shape.heads; ++head) {
      for (int64_t i = 0; i < shape.rows * shape.head_dim; ++i) {
        const auto at = static_cast<size_t>(head * shape.rows * shape.head_dim + i);
        const auto dim = static_cast<size_t>(head * shape.head_dim + i % shape.head_dim);
        expected.push_back(double{whole.values<float>()[at]} - double{bias.values<float>()[dim]});
      }
    }
    EXPECT_TRUE(all_close(part, expected, 1e-5));  // sums of 40 products up to 3, and the bias
  }
  Recorder plain;
  fixture_model("detr_objects")->forward(detector_picture(100, 140), {.recorder = &plain});
  EXPECT_FALSE(plain.take()[0]->positions.has_value());
}

TEST(Detr, AMaskOfOnesChangesNothing) {
  const auto model = fixture_model("detr_basic");
  ModelInputs inputs = detector_picture(60, 70);
  const Tensor expected = model->forward(inputs, {}).logits.tensor;
  inputs.pixel_mask = ones(60, 70);
  EXPECT_TRUE(
      all_close(model->forward(inputs, {}).logits.tensor, support::to_doubles(expected), 0));
}

TEST(Detr, RefusesInputsThatDoNotFit) {
  const auto model = fixture_model("detr_basic");
  ModelInputs inputs = detector_picture(60, 70);
  inputs.pixel_mask = ones(70, 60);
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "pixel_mask", [&] { model->forward(inputs, {}); }));
  inputs.pixel_mask = Tensor(Shape{60, 70}, DType::kI64);
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "no cell", [&] { model->forward(inputs, {}); }));
  inputs.pixel_mask = {};
  inputs.input_ids = {1};
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "input_ids", [&] { model->forward(inputs, {}); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "pixel_values", [&] { model->forward({}, {}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "learned positions for 50 x 50", [&] {
    fixture_model("detr_learned")->forward(detector_picture(20, 51 * 16), {});
  }));
  // A vision transformer takes no mask.
  ModelInputs masked = detector_picture(32, 32);
  masked.pixel_mask = ones(32, 32);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "pixel_mask",
                         [&] { fixture_model("vit_model")->forward(masked, {}); }));
}

TEST(Detr, ThePictureMayBeSmallerThanACell) {
  const ModelOutputs outputs = fixture_model("detr_objects")->forward(detector_picture(1, 1), {});
  EXPECT_EQ(outputs.encoder_last_hidden_state.shape()[0], 1);
}

TEST(Detr, RefusesConfigurationsThatItDoesNotHave) {
  const auto refused = [](ErrorKind kind, const char* said, std::string_view fixture,
                          const std::vector<Json::Member>& changes) {
    EXPECT_TRUE(fails_with(kind, said, [&] { fixture_model(fixture, changes); })) << said;
  };
  refused(ErrorKind::kUnsupported, "resnet50d", "detr_timm_resnet50", {{"backbone", "resnet50d"}});
  refused(ErrorKind::kUnsupported, "of the hub", "detr_timm_resnet50",
          {{"use_timm_backbone", false}, {"backbone", "microsoft/resnet-50"}});
  refused(ErrorKind::kBadFile, "layer1.0.conv1.weight", "detr_timm_resnet50",
          {{"backbone", "resnet34"}});  // basic blocks
  refused(ErrorKind::kBadFile, "relative", "detr_objects",
          {{"position_embedding_type", "relative"}});
  refused(ErrorKind::kBadFile, "num_queries", "detr_objects", {{"num_queries", 0}});
  refused(ErrorKind::kBadFile, "query_position_embeddings", "detr_objects", {{"num_queries", 8}});
  Json swin = Json::object();
  swin.set("model_type", "swin");
  refused(ErrorKind::kUnsupported, "'swin'", "detr_objects", {{"backbone_config", swin}});
}

TEST(Detr, RelativesWithSampledPointsAreRefusedByName) {
  for (const char* type : {"deformable_detr", "rt_detr", "rt_detr_v2", "d_fine", "deta"}) {
    Json json = Json::object();
    json.set("model_type", type);
    const Config config(json, "config.json");
    EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "sampled points", [&] {
      architecture_named(config);
    })) << type;
  }
}

}  // namespace
}  // namespace fovea
