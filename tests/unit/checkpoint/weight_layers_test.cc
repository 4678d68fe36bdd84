#include "fovea/checkpoint/weight_layers.h"

#include <gmock/gmock.h>

namespace fovea {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> part_names(const std::vector<WeightsAbove>& parts) {
  std::vector<std::string> names;
  for (const WeightsAbove& part : parts) names.push_back(part.name);
  return names;
}

TEST(WeightLayers, GoFromTheLastLayerDownToTheFirst) {
  const std::vector<WeightsAbove> parts = weights_from_the_top(
      {"bert.embeddings.word_embeddings.weight", "bert.encoder.layer.0.output.dense.weight",
       "bert.encoder.layer.1.output.dense.weight", "bert.encoder.layer.10.output.dense.weight",
       "classifier.weight"});
  EXPECT_THAT(part_names(parts),
              ElementsAre("layer 10 and above", "layer 1 and above", "layer 0 and above"));
  EXPECT_TRUE(parts[0].holds("classifier.weight"));
  EXPECT_TRUE(parts[0].holds("bert.encoder.layer.10.attention.self.query.weight"));
  EXPECT_FALSE(parts[0].holds("bert.encoder.layer.1.attention.self.query.weight"));
  EXPECT_TRUE(parts[1].holds("bert.encoder.layer.1.attention.self.query.weight"));
  EXPECT_FALSE(parts[2].holds("bert.embeddings.word_embeddings.weight"));
}

TEST(WeightLayers, PutADecoderAboveItsEncoder) {
  const std::vector<WeightsAbove> parts = weights_from_the_top(
      {"model.shared.weight", "model.encoder.layers.0.fc1.weight",
       "model.encoder.layers.1.fc1.weight", "model.decoder.layers.0.fc1.weight"});
  EXPECT_THAT(part_names(parts),
              ElementsAre("decoder layer 0 and above", "encoder layer 1 and above",
                          "encoder layer 0 and above"));
  EXPECT_FALSE(parts[0].holds("model.encoder.layers.1.fc1.weight"));
  EXPECT_TRUE(parts[1].holds("model.decoder.layers.0.fc1.weight"));
}

TEST(WeightLayers, KnowHeadsWithNumbersAndTrunksOfConvolutions) {
  const std::vector<WeightsAbove> parts = weights_from_the_top(
      {"model.backbone.conv_encoder.model.layer1.0.conv1.weight", "model.encoder.layers.5.fc1.bias",
       "model.decoder.layers.5.fc1.bias", "bbox_predictor.layers.0.weight"});
  EXPECT_EQ(parts.size(), 2U);
  EXPECT_TRUE(parts[0].holds("bbox_predictor.layers.0.weight"));
  EXPECT_FALSE(parts[1].holds("model.backbone.conv_encoder.model.layer1.0.conv1.weight"));
}

TEST(WeightLayers, AreNoneWhereNamesTellNone) {
  EXPECT_TRUE(weights_from_the_top({"weight", "bias"}).empty());
  EXPECT_TRUE(weights_from_the_top({}).empty());
}

}  // namespace
}  // namespace fovea
