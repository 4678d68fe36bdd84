// Steps of a model: every number against plain loops in double over Q, K and V of the record.
#include "fovea/ask/steps_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ask_test_support.h"
#include "fovea/base/file.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::fact;
using support::fixture_session;
using support::question_of;
using support::translation_engine;

// Arithmetic in double over the same f32 numbers, in another order.
constexpr double kRounding = 1e-9;

Json steps_of(const Session& session, const std::string& more = "") {
  return whole(session.ask(question_of("{'kind': 'steps'" + more + "}"))).at("result", "");
}

std::vector<double> numbers(const Json& result, std::string_view name) {
  std::vector<double> values;
  for (const Json& each : result.at(name, "").as_array("")) {
    values.push_back(each.is_null() ? -HUGE_VAL : each.as_double(""));
  }
  return values;
}

double number(const Json& result, std::string_view name) {
  return result.at(name, "").as_double("");
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == wanted[i]) continue;  // infinities too
    EXPECT_NEAR(found[i], wanted[i], kRounding) << i;
  }
}

// Scores, softmax and weighted sum of a row by their definitions, and that the answer says so.
// `bias` is added to the scaled scores.
void expect_definition(const Session& session, const Json& result, SiteId site, int64_t head,
                       const std::vector<double>& bias = {}) {
  const auto record = session.run()->run().record(site);
  const AttentionShape shape = record->shape();
  const int64_t row = result.at("row", "").as_int(""), kv = shape.kv_head(head);
  const auto query = record->queries.matrix<float>(head);
  const auto keys = record->keys.matrix<float>(kv), values = record->values.matrix<float>(kv);
  const double scale = double{record->rule.scale}, cap = double{record->rule.soft_cap};
  std::vector<double> q, scores, scaled, capped, masked;
  for (int64_t d = 0; d < shape.head_dim; ++d) q.push_back(double{query(row, d)});
  double total = 0;
  for (int64_t j = 0; j < shape.cols; ++j) {
    double score = 0;
    for (int64_t d = 0; d < shape.head_dim; ++d) {
      const double product = double{query(row, d)} * double{keys(j, d)};
      EXPECT_NEAR(result.at("products", "")
                      .as_array("")[static_cast<size_t>(j)]
                      .as_array("")[static_cast<size_t>(d)]
                      .as_double(""),
                  product, kRounding);
      score += product;
    }
    scores.push_back(score);
    scaled.push_back(scale * score);
    double biased = scaled.back() + (bias.empty() ? 0 : bias[static_cast<size_t>(j)]);
    if (cap > 0) capped.push_back(biased = cap * std::tanh(biased / cap));
    masked.push_back(record->rule.mask.allows(row, j) ? biased : -HUGE_VAL);
    total += std::exp(masked.back());
  }
  std::vector<double> weights, sum(static_cast<size_t>(shape.value_dim));
  for (int64_t j = 0; j < shape.cols; ++j) {
    weights.push_back(std::exp(masked[static_cast<size_t>(j)]) / total);
    for (int64_t c = 0; c < shape.value_dim; ++c) {
      sum[static_cast<size_t>(c)] += weights.back() * double{values(j, c)};
    }
  }
  expect_near(numbers(result, "q"), q);
  expect_near(numbers(result, "scores"), scores);
  expect_near(numbers(result, "scaled"), scaled);
  if (cap > 0) expect_near(numbers(result, "capped"), capped);
  EXPECT_EQ(result.find("capped") != nullptr, cap > 0);
  expect_near(numbers(result, "masked"), masked);
  expect_near(numbers(result, "weights"), weights);
  expect_near(numbers(result, "weighted_sum"), sum);
  EXPECT_LE(number(result, "map_difference"), 1e-5);  // the contract of all maps
}

Session captured(bool causal) {
  return Session::of(
      support::text_run({"[CLS]", "the", "cat", "chas|ing", "it", "[SEP]"}, 4, causal, 2));
}

TEST(Steps, NumbersFollowFromTheRecordOfACapturedRun) {
  for (const bool causal : {false, true}) {
    const Session session = captured(causal);
    const Answer answer = session.ask(question_of("{'kind': 'steps'}"));
    EXPECT_EQ(fact(answer, "site"), "\"self\"");
    EXPECT_EQ(fact(answer, "layer"), "1");
    EXPECT_EQ(fact(answer, "head"), "0");
    const Json result = whole(answer).at("result", "");
    EXPECT_EQ(result.at("token", "").as_string(""), causal ? "it" : "the");
    EXPECT_EQ(result.at("defaults", "").dump(),
              causal ? R"(["the last layer","head 0","the last token"])"
                     : R"(["the last layer","head 0","the first token"])");
    expect_definition(session, result, {SiteKind::kSelf, 1}, 0);
    EXPECT_EQ(result.find("output"), nullptr);
    EXPECT_EQ(result.find("rotary"), nullptr) << "nobody knows";
    EXPECT_EQ(result.at("stages", "").as_array("")[0].at("formula", "").as_string(""),
              "q, as the model made it");
    ASSERT_EQ(answer.notes.size(), 1u);
    EXPECT_NE(answer.notes[0].find("without the blocks"), answer.notes[0].npos);
    const Json other = steps_of(session, ", 'layer': 0, 'head': 3, 'token': 'chasing'");
    expect_definition(session, other, {SiteKind::kSelf, 0}, 3);
  }
}

TEST(Steps, ACapturedRunWithoutValuesSaysWhatIsMissing) {
  auto run = support::text_run({"the", "cat"}, 1);
  AttentionRecord record = *run.records[0];
  record.values = Tensor();
  run.records = {std::make_shared<const AttentionRecord>(std::move(record))};
  const Session session = Session::of(std::move(run));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "captured without its values",
                         [&] { session.ask(question_of("{'kind': 'steps'}")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"at"}, "is given a text",
                         [&] { session.ask(question_of("{'kind': 'steps', 'at': [1, 1]}")); }));
}

TEST(Steps, APairIsOneColumnOfTheRow) {
  const Session session = captured(false);
  const Json row = steps_of(session, ", 'head': 2, 'token': 'cat'");
  const Answer answer =
      session.ask(question_of("{'kind': 'steps', 'head': 2, 'token': 'cat', 'to_token': 'it'}"));
  const Json result = whole(answer).at("result", "");
  const Json& pair = result.at("pair", "");
  EXPECT_EQ(pair.at("column", "").as_int(""), 5);
  EXPECT_EQ(pair.at("token", "").as_string(""), "it");
  EXPECT_EQ(numbers(result, "weights"), numbers(row, "weights")) << "the whole row stays";
  EXPECT_EQ(numbers(pair, "products"),
            numbers(Json::object({{"row", row.at("products", "").as_array("")[5]}}), "row"));
  double score = 0;
  const std::vector<double> q = numbers(row, "q"), k = numbers(pair, "k");
  for (size_t d = 0; d < q.size(); ++d) score += q[d] * k[d];
  EXPECT_NEAR(number(pair, "score"), score, kRounding);
  EXPECT_NEAR(number(pair, "scaled"), score / 4, kRounding);
  const std::vector<double> weights = numbers(row, "weights"), v = numbers(pair, "v");
  EXPECT_EQ(number(pair, "weight"), weights[5]);
  EXPECT_EQ(pair.at("rank", "").as_int(""),
            1 + std::ranges::count_if(weights, [&](double each) { return each > weights[5]; }));
  const std::vector<double> passed = numbers(pair, "weighted_value");
  for (size_t c = 0; c < v.size(); ++c) EXPECT_NEAR(passed[c], weights[5] * v[c], kRounding);
  EXPECT_NE(fact(answer, "caption").find("to \\\"it\\\": 0."), std::string::npos)
      << fact(answer, "caption");
}

TEST(Steps, AMaskedPairHasAScoreAndNoWeight) {
  const Session session = captured(true);
  const Json result = steps_of(session, ", 'token': 'cat', 'to_token': '[SEP]'");
  const Json& pair = result.at("pair", "");
  EXPECT_TRUE(pair.at("hidden", "").as_bool(""));
  EXPECT_TRUE(pair.at("masked", "").is_null());
  EXPECT_TRUE(pair.at("rank", "").is_null());
  EXPECT_EQ(number(pair, "weight"), 0);
  EXPECT_EQ(number(pair, "scaled"), numbers(result, "scaled")[6]);
  EXPECT_EQ(result.at("stages", "").as_array("").size(), 9u) << "with one of the mask";
}

// No fixture caps the scores of its attention.
Session capped_session() {
  auto run = support::text_run({"the", "cat", "sat"}, 2);
  const AttentionRecord& plain = *run.records[0];
  support::AttentionCase c{.shape = plain.shape(), .rule = {.scale = 0.5F, .soft_cap = 2}};
  c.queries = plain.queries;
  c.keys = plain.keys;
  c.values = plain.values;
  run.records = {std::make_shared<const AttentionRecord>(support::record_of(c, plain.site))};
  return Session::of(std::move(run));
}

TEST(Steps, ASoftCapIsAStageOfItsOwn) {
  const Session session = capped_session();
  const Json result = steps_of(session, ", 'head': 1, 'token': 'cat', 'to_token': 'sat'");
  expect_definition(session, result, {SiteKind::kSelf, 0}, 1);
  EXPECT_EQ(number(result, "soft_cap"), 2);
  EXPECT_EQ(number(result.at("pair", ""), "capped"), numbers(result, "capped")[2]);
}

TEST(Steps, BlocksAndOutputsAreKeptForWhatTheHeadAdds) {
  const Session session = fixture_session("llama_gqa");
  const Json result = steps_of(session, ", 'layer': 0, 'head': 3, 'token': 5, 'to_token': 2");
  expect_definition(session, result, {SiteKind::kSelf, 0}, 3);
  EXPECT_LE(number(result, "output_difference"), 1e-5);
  EXPECT_EQ(numbers(result, "x").size(), numbers(result, "output").size());
  EXPECT_TRUE(session.run()->has.outputs) << "so that the next question finds them";
  EXPECT_TRUE(result.at("rotary", "").as_bool(""));
  EXPECT_EQ(captured(false).run()->has.outputs, false);
}

TEST(Steps, ABiasOfDistancesIsAdded) {
  const Session session = fixture_session("t5_lm");
  const Json result = steps_of(session, ", 'site': 'encoder', 'layer': 0, 'head': 1, 'token': 3");
  const SiteId site{SiteKind::kEncoderSelf, 0};
  const auto record = session.run()->run().record(site);
  const auto& table = std::get<DistanceTable>(record->rule.bias);
  std::vector<double> bias;
  for (int64_t j = 0; j < record->shape().cols; ++j) {
    const int32_t bucket = table.index[static_cast<size_t>(j - 3 + record->shape().rows - 1)];
    bias.push_back(double{table.values.matrix<float>()(1, bucket)});
  }
  expect_near(numbers(result, "bias"), bias);
  expect_definition(session, result, site, 1, bias);
  const Answer cross = session.ask(question_of("{'kind': 'steps'}"));
  EXPECT_EQ(fact(cross, "site"), "\"cross\"") << "of an encoder and a decoder what joins them";
}

Session small_scene() {
  static const Engine kEngine =
      Engine::open(test_data("../../models/scenes-vit").lexically_normal().string());
  Input input;
  input.what =
      PictureBytes{.bytes = read_text_file(test_data("../../models/scenes-vit/demo/scene-1.png")),
                   .name = "a scene"};
  input.size = PictureSize{40, 32};  // 4 rows of 5 patches
  return Session::open(kEngine, std::move(input));
}

TEST(Steps, APatchAndAPairOfPatchesAreChosenByPixels) {
  const Session session = small_scene();
  // 224 pixels lie under 5 columns and 4 rows: 100,60 is in column 2 of row 1, 1,223 in the corner.
  const Json result = steps_of(session, ", 'head': 2, 'at': [100, 60], 'to': [1, 223]");
  EXPECT_EQ(result.at("token", "").as_string(""), "patch 1,2");
  EXPECT_EQ(result.at("row", "").as_int(""), 1 + 1 * 5 + 2);
  EXPECT_EQ(result.at("pair", "").at("token", "").as_string(""), "patch 3,0");
  EXPECT_EQ(result.at("picture", "").dump(), "[224,224]");
  expect_definition(session, result, {SiteKind::kSelf, 7}, 2);
  EXPECT_EQ(steps_of(session).at("token", "").as_string(""), "[CLS]");
  const auto wrong = [&](const std::string& more, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { steps_of(session, more); });
  };
  EXPECT_TRUE(wrong(", 'at': [224, 0]", "at", "is not seen"));
  EXPECT_TRUE(wrong(", 'to': [0, 224]", "to", "is not seen"));
  EXPECT_TRUE(wrong(", 'at': [1, 1], 'token': '[CLS]'", "at", "leave one of them out"));
  EXPECT_TRUE(wrong(", 'to': [1, 1], 'to_token': '[CLS]'", "to", "leave one of them out"));
  EXPECT_TRUE(wrong(", 'to': [1, 1], 'similarity': 'all'", "similarity", "leave one of them out"));
  EXPECT_TRUE(wrong(", 'layer': 99", "layer", "99 is beyond"));
}

TEST(Steps, LayersAreCountedInTheAttentionThatIsMeant) {
  const Session session = Session::open(translation_engine(),
                                        parse_input(support::json_of("{'text': 'I love music.'}")));
  EXPECT_EQ(usual_steps_site({}, translation_engine().facts(), false), SiteKind::kCross);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"layer"}, "of cross-attention",
                         [&] { steps_of(session, ", 'layer': 99"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"to"}, "choose a word with `to_token`",
                         [&] { steps_of(session, ", 'to': [1, 1]"); }));
}

TEST(Steps, OtherSimilaritiesStandBesideTheModelsOwn) {
  const Session session = fixture_session("gpt2_lm");
  const Answer answer = session.ask(question_of("{'kind': 'steps', 'similarity': 'all'}"));
  EXPECT_TRUE(std::holds_alternative<MatrixFigure>(answer.figure));
  EXPECT_EQ(numbers_of(answer).weights.size(0), 3);
  const Json result = whole(answer).at("result", "");
  EXPECT_EQ(numbers(result, "weights"), numbers(steps_of(session), "weights"));
  for (const Json& other : result.at("others", "").as_array("")) {
    const std::string name = other.at("compared_by", "").as_string("");
    const Json alone = steps_of(session, ", 'similarity': '" + name + "'");
    EXPECT_EQ(numbers(other, "weights"), numbers(alone, "weights"));
    EXPECT_EQ(alone.at("note", "").as_string(""), "not what the model computed");
    EXPECT_EQ(alone.find("map_difference"), nullptr);
    EXPECT_EQ(alone.find("output"), nullptr);
  }
}

TEST(Steps, FilesOfArraysAndFactsHoldTheSameNumbers) {
  const Session session = captured(false);
  const Answer answer = session.ask(question_of("{'kind': 'steps'}"));
  const Json result = whole(answer).at("result", "");
  for (const NamedTensor& array : answer.arrays()) {
    EXPECT_EQ(array.tensor.dtype(), DType::kF64);
    EXPECT_NE(result.find(array.name), nullptr) << array.name;
  }
  EXPECT_EQ(numbers_of(answer).weights.shape(), (Shape{1, 7}));
  for (const Json& stage : result.at("stages", "").as_array("")) {
    EXPECT_NE(result.find(stage.at("numbers", "").as_string("")), nullptr) << stage.dump();
  }
}

}  // namespace
}  // namespace fovea
