// Answers: what was taken where nobody said it, numbers, and what is refused before the model runs.
#include "fovea/ask/session.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "fovea/ask/predictions.h"
#include "fovea/atlas/attention_map.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::captured_session;
using support::fact;
using support::fixture_session;
using support::json_of;
using support::question_of;
using support::translation_engine;

Session translated(const std::string& input) {
  return Session::open(translation_engine(), parse_input(json_of(input)));
}

TEST(Session, SaysWhatWasTakenWhereNobodySaidIt) {
  const Session session = captured_session();
  const Answer answer = session.ask({});
  EXPECT_TRUE(std::holds_alternative<HeadsFigure>(answer.figure));
  EXPECT_EQ(fact(answer, "question"), R"({"kind":"heads"})");
  EXPECT_EQ(fact(answer, "site"), "\"self\"");
  EXPECT_EQ(fact(answer, "layer"), "1");
  EXPECT_EQ(fact(answer, "head"), "\"all\"");
  EXPECT_EQ(fact(answer, "model"),
            R"({"name":"models/tiny","hash":"0123456789abcdef","architecture":null})");
  const Answer read = session.ask(question_of("{'token': 'chasing', 'layer': 0}"));
  EXPECT_EQ(fact(read, "layer"), "0");
  EXPECT_EQ(fact(read, "head"), "\"mean\"") << "where one map is shown";
  EXPECT_EQ(fact(read, "result"), R"({"row":4})");
  EXPECT_EQ(fact(read, "direction"), "\"row\"");
  EXPECT_EQ(fact(session.ask(question_of("{'token': 'it', 'column': true}")), "direction"),
            "\"column\"");
  EXPECT_EQ(fact(session.ask(question_of("{'layer': 'all'}")), "layer"), "[0,1]");
}

TEST(Session, NumbersAreThoseOfTheMap) {
  const Session session = captured_session();
  const Answer answer = session.ask(question_of("{'head': 2, 'exact': true}"));
  const AttentionMap map = session.map({SiteKind::kSelf, 1}, 2);
  const Tensor expected = map.tile(map.whole());
  const MapData numbers = numbers_of(answer);
  EXPECT_TRUE(std::ranges::equal(numbers.weights.values<float>(), expected.values<float>()));
  const Json result = whole(answer).at("result", "");
  EXPECT_EQ(result.at("rows", "").as_array("").size(), 7u);
  EXPECT_FLOAT_EQ(
      static_cast<float>(result.at("weights", "").as_array("")[1].as_array("")[3].as_double("")),
      expected.matrix<float>()(1, 3));
  const MapData heads = numbers_of(session.ask({}));
  EXPECT_EQ(heads.weights.shape(), (Shape{4, 7, 7}));
  // As numbers a reading is the whole matrix.
  EXPECT_EQ(numbers_of(session.ask(question_of("{'kind': 'reading', 'head': 2}"))).weights.shape(),
            (Shape{7, 7}));
}

TEST(Session, AReadingOfManyWordsIsStillAMatrixOfNumbers) {
  const std::vector<std::string> words(70, "it");
  const Session session = Session::of(support::text_run(words, 1));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "64 at most",
                         [&] { session.ask(question_of("{'kind': 'reading'}")); }));
  const Answer answer = session.ask(question_of("{'kind': 'reading', 'exact': true}"));
  EXPECT_EQ(numbers_of(answer).weights.shape(), (Shape{70, 70}));
  EXPECT_EQ(fact(answer, "result"), "{}");
}

TEST(Session, WhatTheModelDoesNotHaveIsToldBeforeItRuns) {
  const Session session = fixture_session("bert_masked_lm");
  const auto wrong = [&](const std::string& text, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { session.ask(question_of(text)); });
  };
  EXPECT_TRUE(wrong("{'layer': 99}", "layer", "99 is beyond"));
  EXPECT_TRUE(wrong("{'head': 99}", "head", "99 is beyond"));
  EXPECT_TRUE(wrong("{'site': 'cross'}", "site", "choose self"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "does not translate",
                         [&] { session.ask(question_of("{'kind': 'align'}")); }));
}

TEST(Session, SettingsThatTheModelHasNoUseForAreTold) {
  const Engine bert = Engine::open(parity_folder("bert_masked_lm").string());
  const auto wrong = [](const Engine& engine, const std::string& input, const char* field,
                        const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { Session::open(engine, parse_input(json_of(input))); });
  };
  EXPECT_TRUE(wrong(bert, "{'text': 'a', 'target': 'b'}", "target", "no decoder; leave it out"));
  EXPECT_TRUE(wrong(bert, "{'text': 'a', 'to': 'fr'}", "to", "no decoder"));
  Input tensors = parse_input(json_of("{'pair': 'b'}"));
  tensors.what = read_inputs(parity_folder("bert_masked_lm") / "inputs.safetensors");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"pair"}, "leave it out",
                         [&] { Session::open(bert, tensors); }));
  EXPECT_TRUE(wrong(bert, "{}", "text", "there is no input"));
  EXPECT_TRUE(
      wrong(translation_engine(), "{'text': 'a', 'pair': 'b'}", "pair", "did you mean `target`?"));
}

TEST(Session, ATranslationIsAlignedAndItsBlocksAreKeptWhenAsked) {
  const Session session = translated("{'text': 'I love music.', 'target': 'La musique.'}");
  const Answer answer = session.ask(question_of("{'kind': 'align'}"));
  EXPECT_EQ(fact(answer, "outputs"),
            R"({"target":"La musique.","forced":true,"complete":true,"beams":1})");
  EXPECT_EQ(fact(answer, "site"), "\"cross\"");
  EXPECT_EQ(fact(answer, "input"), R"({"text":"I love music.","target":"La musique."})");
  const Json& result = answer.facts.at("result", "");
  EXPECT_FALSE(result.at("links", "").as_array("").empty());
  EXPECT_FALSE(session.run()->has.blocks);
  const auto before = session.run();
  session.ask(question_of("{'kind': 'align', 'norms': true}"));
  EXPECT_TRUE(session.run()->has.blocks);
  EXPECT_EQ(session.run({.blocks = true}), session.run()) << "kept for whoever comes next";
  EXPECT_NE(session.run(), before);
  EXPECT_EQ(before->run().axes, session.run()->run().axes);
}

TEST(Session, APageOpensWhereTheQuestionIs) {
  const Session session = translated("{'text': 'I love music.', 'target': 'La musique.'}");
  const PageOptions page = session.page(question_of("{'kind': 'align', 'layer': 0, 'head': 4}"));
  EXPECT_EQ(page.opens_at, SiteKind::kCross);
  EXPECT_EQ(page.opens_at_layer, 0);
  EXPECT_EQ(page.opens_at_head, 4);
  EXPECT_FALSE(page.choice.layer) << "it holds all layers";
  const PageOptions drawn =
      session.page(question_of("{'kind': 'align', 'of': 'times-even', 'scale': 'log'}"));
  EXPECT_EQ(drawn.choice.of, MapValue::kTimesEven);
  EXPECT_EQ(drawn.choice.curve, ScaleCurve::kLog);
  const PageOptions read = captured_session().page(question_of("{'kind': 'read', 'token': 2}"));
  EXPECT_EQ(read.view, "read");
  EXPECT_EQ(read.choice.token, "#2");
}

TEST(Session, WordsBehindMasksAreAmongTheOutputs) {
  Predictions predictions;
  predictions.masks.push_back({2, {{7, "cat", 0.75}}});
  EXPECT_EQ(to_json(predictions.masks[0].words).dump(),
            R"([{"index":7,"label":"cat","probability":0.75}])");
  const Session session = fixture_session("bert_sequence");
  const Json outputs = session.ask({}).facts.at("outputs", "");
  double sum = 0;
  for (const Json& one : outputs.at("classes", "").as_array("")) {
    sum += one.at("probability", "").as_double("");
  }
  EXPECT_NEAR(sum, 1, 1e-6) << "a softmax over a few classes";
}

TEST(Session, NothingIsAskedOfAnEmptyPictureOrAMissingAxis) {
  const Session one = Session::of(support::text_run({"the"}, 1));
  EXPECT_TRUE(
      fails_with(ErrorKind::kNotFound, "", [&] { one.ask(question_of("{'kind': 'maps'}")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "an alignment is of a text and its translation",
                         [&] { one.ask(question_of("{'kind': 'align'}")); }));
}

}  // namespace
}  // namespace fovea
