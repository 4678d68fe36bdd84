#include "fovea/checkpoint/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/memory_source.h"
#include "unit/checkpoint/checkpoint_test_support.h"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Weights sample_weights() {
  return Weights(std::make_shared<MemorySource>(std::vector<NamedTensor>{
      {"bert.encoder.layer.0.query.weight", sample_tensor({2, 3}, DType::kF32)},
      {"bert.encoder.layer.1.query.weight", sample_tensor({2, 3}, DType::kF16)},
      {"bert.encoder.layer.10.query.weight", sample_tensor({1}, DType::kF32)},
      {"bert.LayerNorm.gamma", sample_tensor({4}, DType::kF32)},
      {"bert.LayerNorm.beta", sample_tensor({4}, DType::kF32)},
      {"cls.bias", sample_tensor({5}, DType::kF32)}}));
}

TEST(Weights, ScopesLeadToTensors) {
  const Weights layers = sample_weights()["bert.encoder.layer"];
  EXPECT_EQ(layers[1].prefix(), "bert.encoder.layer.1.");
  EXPECT_TRUE(layers[1].has("query.weight"));
  EXPECT_FALSE(layers[2].has("query.weight"));
  EXPECT_EQ(layers[1].tensor("query.weight").dtype(), DType::kF16);
  EXPECT_EQ(layers[1].find("query.weight")->shape, (Shape{2, 3}));
  EXPECT_THAT(layers[1].names(), ElementsAre("query.weight"));  // not those of layer 10
  EXPECT_THAT(sample_weights()["cls"].names(), ElementsAre("bias"));
}

TEST(Weights, AShapeIsCheckedAndBothAreSaid) {
  const Weights layer = sample_weights()["bert.encoder.layer"][0];
  EXPECT_NO_THROW(layer.tensor("query.weight", {2, 3}));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile,
                         "memory: tensor 'bert.encoder.layer.0.query.weight' has shape [2, 3] but "
                         "the model's configuration asks for [3, 2]",
                         [&] {
                           layer.tensor("query.weight", {3, 2});
                         }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'bert.encoder.layer.0.key.weight' among its 6",
                         [&] { layer.tensor("key.weight"); }));
}

TEST(Weights, AMatrixOfWholeNumbersIsRefusedWithItsName) {
  const Weights weights(std::make_shared<MemorySource>(
      std::vector<NamedTensor>{{"query.weight", sample_tensor({2, 3}, DType::kI32)}}));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "memory: tensor 'query.weight' holds I32", [&] {
    static_cast<void>(weights.matrix("query.weight", {2, 3}));
  }));
}

TEST(Weights, TensorsAreConvertedOnRequest) {
  const Tensor tensor =
      sample_weights()["bert.encoder.layer"][1].tensor("query.weight", {2, 3}, DType::kF32);
  EXPECT_EQ(tensor.dtype(), DType::kF32);
}

TEST(Weights, APrefixIsChosenByAProbe) {
  const Weights with = sample_weights().below_one_of({"model.", "bert.", ""}, "LayerNorm.gamma");
  EXPECT_EQ(with.prefix(), "bert.");
  const Weights without = sample_weights().below_one_of({"model.", ""}, "cls.bias");
  EXPECT_EQ(without.prefix(), "");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'model.', ''", [] {
    sample_weights().below_one_of({"model.", ""}, "LayerNorm.gamma");
  }));
}

TEST(Weights, OldNamesAreFoundUnderNewOnes) {
  const Rename table[] = {{"LayerNorm.gamma", "LayerNorm.weight"},
                          {"LayerNorm.beta", "LayerNorm.bias"},
                          {"coder", "wrong"}};  // not a whole part of 'encoder'
  const Weights weights = sample_weights().renamed(table)["bert"];
  EXPECT_THAT(weights["LayerNorm"].names(), ElementsAre("bias", "weight"));
  EXPECT_TRUE(weights.has("encoder.layer.0.query.weight"));
  EXPECT_FALSE(weights.has("LayerNorm.gamma"));
  EXPECT_EQ(weights.find("LayerNorm.weight")->name, "bert.LayerNorm.gamma");
}

TEST(Weights, ANameThatIsThereIsNotReplaced) {
  const Weights both(std::make_shared<MemorySource>(
      std::vector<NamedTensor>{{"n.gamma", sample_tensor({1}, DType::kF32)},
                               {"n.weight", sample_tensor({2}, DType::kF32)}}));
  const Rename table[] = {{"gamma", "weight"}};
  EXPECT_EQ(both.renamed(table).tensor("n.weight").shape(), (Shape{2}));
}

TEST(Weights, UnusedTensorsAreKnownAcrossAllViews) {
  const Weights weights = sample_weights();
  const Rename table[] = {{"gamma", "weight"}};
  const Weights renamed = weights.renamed(table);
  EXPECT_EQ(weights.unused().size(), 6U);
  for (const std::string& name : weights["bert.encoder"].names()) {
    weights["bert.encoder"].tensor(name);
  }
  renamed.tensor("bert.LayerNorm.weight");
  EXPECT_THAT(weights.unused(), ElementsAre("bert.LayerNorm.beta", "cls.bias"));
  weights.find("cls.bias");  // looking is not using
  EXPECT_EQ(weights.unused().size(), 2U);
}

TEST(Weights, NothingIsEmpty) {
  const Weights nothing;
  EXPECT_THAT(nothing.names(), IsEmpty());
  EXPECT_THAT(nothing.unused(), IsEmpty());
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'x'", [&] { nothing.tensor("x"); }));
}

}  // namespace
}  // namespace fovea
