#include "fovea/models/seq2seq_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/layers/attention_cache.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/fixture_models.h"
#include "support/random.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

// Sums of some tens of products in another order, in layers that follow each other: some roundings
// of numbers around the largest.
constexpr double kTolerance = 1e-5;

ModelInputs source_for(const Model& model) {
  ModelInputs inputs;
  if (model.facts().takes_features()) {
    std::mt19937 random(11);
    std::normal_distribution<float> normal;
    inputs.input_features = Tensor(Shape{7, 2 * model.facts().sound->positions});
    for (float& value : inputs.input_features.mutable_values<float>()) value = normal(random);
  } else {
    inputs.input_ids = {7, 31, 12, 8, 44, 9, 15};
    inputs.attention_mask = {1, 1, 1, 1, 1, 0, 1};
  }
  return inputs;
}

ModelInputs with_target(ModelInputs inputs, std::vector<int64_t> ids) {
  inputs.decoder_input_ids = std::move(ids);
  return inputs;
}

void expect_row(const Tensor& found, int64_t row, const Tensor& expected, int64_t expected_row,
                const char* what) {
  const auto wanted = expected.matrix<float>();
  const auto values = found.matrix<float>();
  ASSERT_EQ(values.cols, wanted.cols);
  const std::vector<double> doubles(wanted.row(expected_row),
                                    wanted.row(expected_row) + wanted.cols);
  EXPECT_TRUE(fovea::support::all_close(
      std::span(values.row(row), static_cast<size_t>(values.cols)), doubles,
      kTolerance * std::max(1.0, fovea::support::largest_magnitude(doubles))))
      << what << " row " << row;
}

// Rows of a step against the whole target at once.
void expect_rows(const ModelOutputs& found, int64_t row, const ModelOutputs& whole,
                 int64_t whole_row) {
  expect_row(found.last_hidden_state.tensor, row, whole.last_hidden_state.tensor, whole_row,
             "hidden");
  expect_row(found.logits.tensor, row, whole.logits.tensor, whole_row, "logits");
}

class Seq2SeqSteps : public ::testing::TestWithParam<const char*> {};

TEST_P(Seq2SeqSteps, StepByStepEqualsTheWholeTargetAtOnce) {
  const auto model = fixture_model(GetParam());
  const Seq2SeqModel& stacks = *model->seq2seq();
  const ModelInputs inputs = source_for(*model);
  const std::vector<int64_t> target{5, 9, 22, 41, 7, 30, 6, 13, 19, 8, 25, 33, 11, 20, 10, 45};
  const ModelOutputs whole = model->forward(with_target(inputs, target), {});
  for (const std::vector<int64_t>& steps :
       {std::vector<int64_t>(16, 1), {16}, {3, 1, 1, 6, 1, 2, 2}}) {
    const EncodedSource source = stacks.encode(inputs, {});
    AttentionCache cache;
    for (const int64_t step : steps) {
      const int64_t begin = cache.length();
      const ModelOutputs found = stacks.decode(
          source, std::span(target).subspan(static_cast<size_t>(begin), static_cast<size_t>(step)),
          {}, {.cache = &cache});
      for (int64_t i = 0; i < step; ++i) expect_rows(found, i, whole, begin + i);
    }
    EXPECT_EQ(cache.length(), 16);
  }
}

TEST_P(Seq2SeqSteps, HypothesesThatBranchAreAsIfEachWereAlone) {
  const auto model = fixture_model(GetParam());
  const Seq2SeqModel& stacks = *model->seq2seq();
  const ModelInputs inputs = source_for(*model);
  const EncodedSource source = stacks.encode(inputs, {});
  AttentionCache cache;
  std::vector<std::vector<int64_t>> texts{{5, 9, 22}};
  stacks.decode(source, texts[0], {}, {.cache = &cache});
  int64_t next = 6;
  for (const std::vector<int64_t>& parents :
       {std::vector<int64_t>{0, 0, 0}, {2, 0, 2}, {1, 2, 0}, {0, 1, 2}, {1, 1}, {1}}) {
    std::vector<std::vector<int64_t>> children;
    std::vector<int64_t> ids;
    for (const int64_t parent : parents) {
      children.push_back(texts[static_cast<size_t>(parent)]);
      children.back().push_back(next);
      ids.push_back(next++);
    }
    cache.branch(parents);
    texts = children;
    const ModelOutputs found = stacks.decode(source, ids, {}, {.cache = &cache});
    for (size_t h = 0; h < texts.size(); ++h) {
      SCOPED_TRACE(::testing::Message() << "hypothesis " << h << " of " << texts.size());
      const ModelOutputs alone = model->forward(with_target(inputs, texts[h]), {});
      expect_rows(found, static_cast<int64_t>(h), alone, static_cast<int64_t>(texts[h].size()) - 1);
    }
  }
}

// The scores of all pairs, where they are not masked.
std::vector<double> scores_of(const AttentionRecord& record) {
  const AttentionShape shape = record.shape();
  validate(record.rule, shape);
  std::vector<double> scores;
  const auto vector_of = [&](const Tensor& heads, int64_t head, int64_t row) {
    return std::span(heads.matrix<float>(head).row(row), static_cast<size_t>(shape.head_dim));
  };
  for (int64_t head = 0; head < shape.heads; ++head) {
    for (int64_t i = 0; i < shape.rows; ++i) {
      for (int64_t j = 0; j < shape.cols; ++j) {
        if (!record.rule.mask.allows(i, j)) continue;
        scores.push_back(reference_score(record.rule, shape, head, i, j,
                                         vector_of(record.queries, head, i),
                                         vector_of(record.keys, head, j)));
      }
    }
  }
  return scores;
}

TEST_P(Seq2SeqSteps, TheRecordOfAllStepsIsThatOfTheWholeTarget) {
  const auto model = fixture_model(GetParam());
  const Seq2SeqModel& stacks = *model->seq2seq();
  const ModelInputs inputs = source_for(*model);
  const std::vector<int64_t> target{5, 9, 22, 41, 7, 30, 6, 13, 19, 8, 25, 33, 11, 20, 10, 45};
  Recorder at_once;
  model->forward(with_target(inputs, target), {.recorder = &at_once});
  AttentionCache cache;
  const EncodedSource source = stacks.encode(inputs, {});
  for (const int64_t& id : target) stacks.decode(source, {&id, 1}, {}, {.cache = &cache});
  Recorder in_steps;
  cache.record_into(in_steps, "steps");
  const auto records = in_steps.take();
  EXPECT_EQ(static_cast<int64_t>(records.size()), model->facts().decoder->layers);
  const auto expected = at_once.take();
  for (const auto& record : records) {
    const auto same = std::ranges::find_if(
        expected, [&](const auto& other) { return other->site == record->site; });
    ASSERT_NE(same, expected.end());
    const std::vector<double> found = scores_of(*record), wanted = scores_of(**same);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      // Scores up to about 10 out of states that went through some layers.
      ASSERT_NEAR(found[i], wanted[i], 1e-4) << to_string(record->site) << " pair " << i;
    }
  }
}

TEST_P(Seq2SeqSteps, EverySiteIsRecordedOnceWithTheBlockAroundIt) {
  const auto model = fixture_model(GetParam());
  const ModelFacts& facts = model->facts();
  Recorder recorder({.block = true});
  model->forward(with_target(source_for(*model), {5, 9, 22}), {.recorder = &recorder});
  const auto records = recorder.take();
  ASSERT_EQ(static_cast<int64_t>(records.size()), facts.attentions());
  for (const auto& record : records) {
    SCOPED_TRACE(to_string(record->site));
    const bool encoder = record->site.kind == SiteKind::kEncoderSelf;
    EXPECT_EQ(record->shape().heads, encoder ? facts.main.heads : facts.decoder->heads);
    EXPECT_EQ(record->shape().rows == 3, !encoder);
    EXPECT_EQ(record->col_axis, record->site.kind == SiteKind::kDecoderSelf ? "target" : "source");
    ASSERT_TRUE(record->block.has_value());
    // What the block's result is added to.
    EXPECT_EQ(record->block->input.shape(), (Shape{record->shape().rows, facts.main.width}));
  }
}

TEST_P(Seq2SeqSteps, FactsTellTheStacksApart) {
  const ModelFacts facts = fixture_model(GetParam())->facts();
  ASSERT_TRUE(facts.has_decoder());
  EXPECT_TRUE(facts.decoder->causal);
  EXPECT_FALSE(facts.text_stack().causal);
  EXPECT_TRUE(facts.target.has_value());
  EXPECT_NE(facts.takes_text(), facts.takes_features());
}

TEST_P(Seq2SeqSteps, TargetsThatCannotBeReadAreRefused) {
  const auto model = fixture_model(GetParam());
  const ModelFacts& facts = model->facts();
  const ModelInputs inputs = source_for(*model);
  for (const int64_t id : {facts.target->vocabulary, int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, fmt::format("token id {}", id), [&] {
      model->forward(with_target(inputs, {5, id}), {});
    }));
  }
  ModelInputs uneven = with_target(inputs, {5, 6});
  uneven.decoder_attention_mask = {1};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                         "decoder_attention_mask has 1 entries but decoder_input_ids has 2",
                         [&] { model->forward(uneven, {}); }));
  if (facts.target->most_tokens > 0) {
    const std::vector<int64_t> most(static_cast<size_t>(facts.target->most_tokens), 5);
    EXPECT_NO_THROW(model->forward(with_target(inputs, most), {}));
    std::vector<int64_t> longer = most;
    longer.push_back(5);
    EXPECT_TRUE(fails_with(
        ErrorKind::kInvalidArgument,
        fmt::format("{} tokens but this model has positions for {}", longer.size(), most.size()),
        [&] { model->forward(with_target(inputs, longer), {}); }));
    // Step by step too.
    AttentionCache cache;
    const EncodedSource source = model->seq2seq()->encode(inputs, {});
    model->seq2seq()->decode(source, most, {}, {.cache = &cache});
    EXPECT_TRUE(
        fails_cleanly([&] { model->seq2seq()->decode(source, {{5}}, {}, {.cache = &cache}); }));
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Seq2SeqSteps,
                         ::testing::Values("marian_mt", "bart_lm", "mbart_lm", "m2m_100_lm",
                                           "t5_lm", "t5_gated", "umt5_lm", "whisper_lm"),
                         [](const auto& name) { return std::string(name.param); });

TEST(Seq2SeqModels, SourcesThatCannotBeReadAreRefused) {
  for (const char* name : {"marian_mt", "bart_lm", "m2m_100_lm", "t5_lm"}) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "token id 60 is beyond", [&] {
      model->forward({.input_ids = {5, 60}, .decoder_input_ids = {5}}, {});
    }));
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no tokens",
                           [&] { model->forward({.decoder_input_ids = {5}}, {}); }));
    EXPECT_TRUE(fails_with(
        ErrorKind::kInvalidArgument, "attention_mask has 1 entries but input_ids has 2", [&] {
          model->forward({.input_ids = {5, 6}, .attention_mask = {1}, .decoder_input_ids = {5}},
                         {});
        }));
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "token_type_ids is given", [&] {
      model->forward({.input_ids = {5}, .token_type_ids = {0}, .decoder_input_ids = {5}}, {});
    }));
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "input_features is given", [&] {
      model->forward(
          {.input_ids = {5}, .decoder_input_ids = {5}, .input_features = Tensor(Shape{7, 26})}, {});
    }));
    const std::vector<int64_t> longer(41, 5);
    const bool has_end = model->facts().text->most_tokens > 0;
    EXPECT_EQ(
        fails_with(ErrorKind::kInvalidArgument, "41 tokens",
                   [&] { model->forward({.input_ids = longer, .decoder_input_ids = {5}}, {}); }),
        has_end);
  }
}

TEST(Seq2SeqModels, WhereNothingSaysWhatTheDecoderReadsItMustBeGiven) {
  for (const char* name : {"marian_mt", "m2m_100_lm", "t5_lm"}) {
    const auto model = fixture_model(name);
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "needs decoder_input_ids", [&] {
      model->forward({.input_ids = {5, 6}}, {});
    }));
  }
  const auto whisper = fixture_model("whisper_lm");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "needs decoder_input_ids",
                         [&] { whisper->forward(source_for(*whisper), {}); }));
  EXPECT_TRUE(fails_cleanly([] { fixture_model("bart_lm")->forward({}, {}); }));
  EXPECT_TRUE(fails_cleanly([] { fixture_model("mbart_lm")->forward({}, {}); }));
}

TEST(Seq2SeqModels, SomeReadTheSourceOnceMoreOnePlaceLater) {
  const auto bart = fixture_model("bart_lm", {{"decoder_start_token_id", 17}});
  EXPECT_THAT(bart->seq2seq()->decoder_ids({.input_ids = {5, 6, 7}}), ElementsAre(17, 5, 6));
  // Its last token, which names the language.
  const auto mbart = fixture_model("mbart_lm");
  EXPECT_THAT(mbart->seq2seq()->decoder_ids({.input_ids = {5, 6, 7}}), ElementsAre(7, 5, 6));
  EXPECT_THAT(mbart->seq2seq()->decoder_ids({.input_ids = {5, 6, 1, 1}}), ElementsAre(6, 5, 6, 1));
  EXPECT_THAT(mbart->seq2seq()->decoder_ids({.input_ids = {1, 1}}), ElementsAre(1, 1));
  const auto t5 = fixture_model("t5_sequence");
  EXPECT_THAT(t5->seq2seq()->decoder_ids({.input_ids = {5, 6, 1}}), ElementsAre(0, 5, 6));
}

TEST(Seq2SeqModels, ClassesComeFromTheLastEndOfTheText) {
  const auto model = fixture_model("bart_sequence");
  EXPECT_EQ(model->facts().head, HeadKind::kSequenceClass);
  EXPECT_EQ(model->forward({.input_ids = {5, 2}}, {}).logits.shape(), (Shape{3}));
  EXPECT_TRUE(
      model->forward({.input_ids = {5, 2}}, {.logits = LogitRows::kNone}).logits.tensor.empty());
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "the source has no token 2", [&] {
    model->forward({.input_ids = {5, 6}}, {});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "3 entries but input_ids has 2", [&] {
    model->forward({.input_ids = {5, 2}, .decoder_input_ids = {2, 5, 2}}, {});
  }));
}

TEST(Seq2SeqModels, SoundMustHaveTheShapeThatTheModelHears) {
  const auto model = fixture_model("whisper_lm");
  EXPECT_DOUBLE_EQ(model->facts().sound->seconds_per_position, 0.02);
  EXPECT_EQ(model->facts().sound->positions, 13);
  EXPECT_EQ(model->facts().most_positions(), 13);
  for (const Shape& shape : {Shape{7, 25}, Shape{7, 28}, Shape{6, 26}, Shape{26, 7}}) {
    EXPECT_TRUE(fails_with(
        ErrorKind::kInvalidArgument,
        fmt::format("input_features is {} but this model takes [7, 26]", to_string(shape)),
        [&] { model->forward({.decoder_input_ids = {5}, .input_features = Tensor(shape)}, {}); }));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "needs input_features",
                         [&] { model->forward({.decoder_input_ids = {5}}, {}); }));
  ModelInputs both = with_target(source_for(*model), {5});
  both.input_ids = {5};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "input_ids is given",
                         [&] { model->forward(both, {}); }));
}

TEST(Seq2SeqModels, ModelsOfOneTextTakeNoTarget) {
  for (const char* name : {"bert_model", "t5_encoder"}) {
    const auto model = fixture_model(name);
    EXPECT_EQ(model->seq2seq(), nullptr);
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "decoder_input_ids is given", [&] {
      model->forward({.input_ids = {5}, .decoder_input_ids = {5}}, {});
    }));
  }
}

TEST(Seq2SeqModels, ATargetInStepsHasNoPadding) {
  const auto model = fixture_model("t5_lm");
  const EncodedSource source = model->seq2seq()->encode(source_for(*model), {});
  AttentionCache cache;
  const std::vector<int64_t> ids{5, 6}, mask{1, 0};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "without padding",
                         [&] { model->seq2seq()->decode(source, ids, mask, {.cache = &cache}); }));
  EXPECT_EQ(cache.length(), 0);
}

TEST(BuildingSeq2SeqModels, AConfigurationThatIsWrongIsRefused) {
  const auto refused = [](const char* name, std::string_view part,
                          const std::vector<Json::Member>& changes) {
    SCOPED_TRACE(part);
    try {
      fixture_model(name, changes);
      ADD_FAILURE() << "was built";
    } catch (const Error& error) {
      EXPECT_TRUE(fails_with(error.kind(), part, [&] { throw error; }));
    }
  };
  for (const int64_t buckets : {int64_t{0}, int64_t{-8}, int64_t{1}, int64_t{3}, int64_t{9},
                                int64_t{4097}, int64_t{2000000000}, int64_t{1} << 40}) {
    refused("t5_lm", "relative_attention", {{"relative_attention_num_buckets", buckets}});
  }
  for (const int64_t distance : {int64_t{0}, int64_t{-1}, int64_t{4}, int64_t{1} << 40}) {
    refused("t5_lm", "relative_attention_max_distance",
            {{"relative_attention_max_distance", distance}});
  }
  refused("t5_lm", "d_kv", {{"d_kv", 0}});
  refused("t5_lm", "numbers each", {{"d_kv", 1000000}});
  refused("t5_lm", "encoder.block.0.layer.0.SelfAttention.", {{"d_kv", 9}});
  refused("t5_lm", "encoder.block.0.layer.0.SelfAttention.", {{"num_heads", 2000000000}});
  refused("t5_lm", "block.2.layer.0", {{"num_layers", 3}});
  refused("t5_lm", "decoder.block.1", {{"num_decoder_layers", 2}});
  refused("t5_lm", "num_layers", {{"num_layers", 100000}});
  refused("t5_lm", "num_decoder_layers", {{"num_decoder_layers", 0}});
  refused("t5_lm", "feed_forward_proj", {{"feed_forward_proj", "gated-mish"}});
  refused("t5_lm", "feed_forward_proj", {{"feed_forward_proj", "gated-"}});
  refused("t5_lm", "DenseReluDense.wi_", {{"feed_forward_proj", "gated-gelu"}});
  refused("t5_lm", "d_ff", {{"d_ff", -1}});
  for (const char* name : {"marian_mt", "bart_lm", "m2m_100_lm", "whisper_lm"}) {
    refused(name, "encoder_layers", {{"encoder_layers", 100000}});
    refused(name, "decoder_attention_heads", {{"decoder_attention_heads", 7}});
    refused(name, "decoder_ffn_dim", {{"decoder_ffn_dim", 0}});
    refused(name, "'mish'", {{"activation_function", "mish"}});
    refused(name, "'warp'", {{"activation_function", "warp"}});
  }
  refused("bart_lm", "pad_token_id", {{"pad_token_id", 60}});
  refused("m2m_100_lm", "pad_token_id", {{"pad_token_id", -2}});
  refused("bart_lm", "embed_positions", {{"max_position_embeddings", 41}});
  refused("marian_mt", "normalize_before", {{"normalize_before", true}});
  refused("whisper_lm", "conv1", {{"num_mel_bins", 8}});
  refused("whisper_lm", "embed_positions", {{"max_source_positions", 14}});
  refused("whisper_lm", "embed_positions", {{"max_target_positions", 19}});
}

TEST(BuildingSeq2SeqModels, WithoutAListOfArchitecturesTheWeightsTell) {
  EXPECT_EQ(fixture_model("t5_encoder", {{"architectures", {}}})->seq2seq(), nullptr);
  const auto head = [](const char* name) {
    return fixture_model(name, {{"architectures", {}}})->facts().head;
  };
  EXPECT_EQ(head("t5_lm"), HeadKind::kTargetWords);
  EXPECT_EQ(head("bart_lm"), HeadKind::kTargetWords);
  EXPECT_EQ(head("bart_sequence"), HeadKind::kSequenceClass);
  EXPECT_EQ(head("marian_mt"), HeadKind::kTargetWords);
  EXPECT_EQ(head("whisper_lm"), HeadKind::kTargetWords);
}

}  // namespace
}  // namespace fovea
