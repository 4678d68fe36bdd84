#include "fovea/layers/numeric_input.h"

#include <gtest/gtest.h>

#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;

const Tensor kTable = random_tensor({9, 4}, 1);
const std::vector<int64_t> kIds{3, 0, 3};

TEST(NumericInput, IsTheModelsOwnInAPlainRun) {
  const Value words = embed_words({}, kInputsEmbeds, kTable, kIds, 2);
  EXPECT_FALSE(words.watched());
  ASSERT_EQ(words.shape(), Shape({3, 4}));
  EXPECT_EQ(words.tensor.matrix<float>()(2, 1), 2 * kTable.matrix<float>()(3, 1));
}

TEST(NumericInput, IsFollowedByATapeAndKeptUnderItsName) {
  Tape tape;
  NumericInputs inputs;
  const Value words = embed_words({.tape = &tape, .inputs = &inputs}, kInputsEmbeds, kTable, kIds);
  EXPECT_TRUE(words.watched());
  ASSERT_EQ(inputs.read.size(), 1U);
  EXPECT_EQ(inputs.read.at("inputs_embeds").node, words.node);
}

TEST(NumericInput, IsReplacedByWhatIsGivenIfItFits) {
  NumericInputs inputs;
  inputs.given["pixel_values"] = random_tensor({3, 2, 2}, 2);
  const Pass pass{.inputs = &inputs};
  EXPECT_EQ(numeric_input(pass, kPixelValues, Tensor({3, 2, 2})).tensor.values<float>()[5],
            inputs.given["pixel_values"].values<float>()[5]);
  EXPECT_EQ(numeric_input(pass, kInputFeatures, Tensor({3, 2})).tensor.values<float>()[5], 0);
  EXPECT_THROW(numeric_input(pass, kPixelValues, Tensor({3, 2, 3})), Error);
}

}  // namespace
}  // namespace fovea
