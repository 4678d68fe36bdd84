#include "fovea/generate/decoder_words.h"

#include <gtest/gtest.h>

#include "support/fixture_models.h"

namespace fovea {
namespace {

class DecoderWordsOf : public testing::TestWithParam<const char*> {};

// What the decoder says after `ids` when it reads them all at once.
std::vector<float> at_once(const Seq2SeqModel& model, const EncodedSource& source,
                           const std::vector<int64_t>& ids) {
  const Tensor logits = model.decode(source, ids, {}, {.logits = LogitRows::kLast}).logits.tensor;
  const auto values = logits.values<float>();
  return {values.begin(), values.end()};
}

void expect_row(const Tensor& logits, int64_t row, const std::vector<float>& expected) {
  const MatrixView<const float> view = logits.matrix<float>();
  ASSERT_EQ(view.cols, static_cast<int64_t>(expected.size()));
  for (int64_t c = 0; c < view.cols; ++c) {
    // The same sums in another order, of logits of about 10.
    EXPECT_NEAR(view(row, c), expected[static_cast<size_t>(c)], 2e-4) << "row " << row;
  }
}

TEST_P(DecoderWordsOf, StepsAndBranchesEqualReadingAllAtOnce) {
  const std::unique_ptr<Model> model = fixture_model(GetParam());
  const Seq2SeqModel& seq2seq = *model->seq2seq();
  const EncodedSource source = seq2seq.encode({.input_ids = {5, 7, 9, 2}}, {});
  DecoderWords words(seq2seq, source);
  expect_row(words.start(std::vector<int64_t>{3}), 0, at_once(seq2seq, source, {3}));

  const Tensor three = words.step(std::vector<int64_t>{0, 0, 0}, std::vector<int64_t>{6, 8, 10});
  expect_row(three, 0, at_once(seq2seq, source, {3, 6}));
  expect_row(three, 1, at_once(seq2seq, source, {3, 8}));
  expect_row(three, 2, at_once(seq2seq, source, {3, 10}));

  const Tensor crossed = words.step(std::vector<int64_t>{2, 0}, std::vector<int64_t>{11, 12});
  expect_row(crossed, 0, at_once(seq2seq, source, {3, 10, 11}));
  expect_row(crossed, 1, at_once(seq2seq, source, {3, 6, 12}));

  const Tensor last = words.step(std::vector<int64_t>{1, 1, 0}, std::vector<int64_t>{6, 7, 8});
  expect_row(last, 0, at_once(seq2seq, source, {3, 6, 12, 6}));
  expect_row(last, 1, at_once(seq2seq, source, {3, 6, 12, 7}));
  expect_row(last, 2, at_once(seq2seq, source, {3, 10, 11, 8}));
}

INSTANTIATE_TEST_SUITE_P(Families, DecoderWordsOf,
                         testing::Values("marian_mt", "bart_lm", "m2m_100_lm", "t5_gated"),
                         [](const auto& family) { return std::string(family.param); });

}  // namespace
}  // namespace fovea
