#include "fovea/checkpoint/random_weights.h"

#include <gmock/gmock.h>

#include <cmath>

#include "support/memory_source.h"

namespace fovea {
namespace {

using ::testing::Each;

Weights trained() {
  const auto fives = [](const Shape& shape) {
    Tensor tensor = Tensor::uninitialized(shape);
    for (float& value : tensor.mutable_values<float>()) value = 5;
    return tensor;
  };
  return Weights(std::make_shared<MemorySource>(std::vector<NamedTensor>{
      {"layer.query.weight", fives({100, 200})},
      {"layer.query.bias", fives({100})},
      {"layer.norm.weight", fives({100})},
      {"class_embedding", fives({100})},
      {"logit_scale", fives({})},
      {"position_ids", Tensor::from<int64_t>({3}, std::vector<int64_t>{0, 1, 2})}}));
}

TEST(RandomWeights, BeginAsTrainingDoesByNameAndShape) {
  const Weights random = random_weights(trained(), {.deviation = 0.5});
  EXPECT_THAT(random.tensor("layer.query.bias").values<float>(), Each(0.0F));
  EXPECT_THAT(random.tensor("layer.norm.weight").values<float>(), Each(1.0F));
  EXPECT_EQ(random.tensor("logit_scale").values<float>()[0], 5);
  EXPECT_EQ(random.tensor("position_ids").values<int64_t>()[2], 2);
  double sum = 0, squares = 0;
  const Tensor matrix = random.tensor("layer.query.weight", {100, 200}, DType::kF32);
  for (const float value : matrix.values<float>()) {
    sum += value;
    squares += double{value} * value;
  }
  // With 20,000 numbers, the mean is within 5 standard errors of 0.5 / sqrt(20000), the deviation
  // within 5 of 0.5 / sqrt(40000).
  EXPECT_NEAR(sum / 20000, 0, 0.018);
  EXPECT_NEAR(std::sqrt(squares / 20000), 0.5, 0.0125);
  EXPECT_NE(random.tensor("class_embedding").values<float>()[0],
            random.tensor("class_embedding").values<float>()[1]);
}

TEST(RandomWeights, DependOnTheNameAndTheSeedAlone) {
  const auto first_of = [](uint64_t seed, const char* name) {
    return random_weights(trained(), {.seed = seed}).tensor(name).values<float>()[0];
  };
  EXPECT_EQ(first_of(3, "class_embedding"), first_of(3, "class_embedding"));
  EXPECT_NE(first_of(3, "class_embedding"), first_of(4, "class_embedding"));
  EXPECT_NE(first_of(3, "class_embedding"), first_of(3, "layer.query.weight"));
}

TEST(RandomWeights, LeaveAloneWhatIsNotChosen) {
  const auto chosen = [](std::string_view name) { return name.starts_with("layer."); };
  const Weights random = random_weights(trained(), {.chosen = chosen});
  EXPECT_THAT(random.tensor("class_embedding").values<float>(), Each(5.0F));
  EXPECT_THAT(random.tensor("layer.query.bias").values<float>(), Each(0.0F));
}

}  // namespace
}  // namespace fovea
