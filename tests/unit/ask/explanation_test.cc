// Explanations as answers: what is chosen where nobody says it, how often the model runs for them,
// and that a captured run answers as its model does.
#include "fovea/ask/explanation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "ask_test_support.h"
#include "fovea/ask/explanation_answer.h"
#include "fovea/ask/explanation_check.h"
#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/explanation_place.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/file.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using support::captured_session;
using support::fact;
using support::fixture_session;
using support::json_of;
using support::translation_engine;

const Json& explained_result(const Answer& answer) {
  return answer.facts.at("result", "an answer");
}

std::vector<double> explained_scores(const Answer& answer) {
  std::vector<double> scores;
  for (const Json& score : explained_result(answer).at("scores", "").as_array("")) {
    scores.push_back(score.as_double(""));
  }
  return scores;
}

std::string explained_fact(const Answer& answer, std::string_view name) {
  const Json* value = explained_result(answer).find(name);
  return value == nullptr ? "nothing" : value->dump();
}

Question explain_question_of(const std::string& fields) {
  Json json = json_of(fields);
  json.set("kind", "explain");
  return parse_question(json);
}

Session translation_session(const std::string& input) {
  return Session::open(translation_engine(), parse_input(json_of(input)), {.values = false});
}

TEST(Explanation, TakesTheMethodThatSuitsWhatTheModelSays) {
  const auto method = [](const Session& session, const std::string& fields) {
    return fact(session.ask(explain_question_of(fields)), "method");
  };
  EXPECT_EQ(method(fixture_session("bert_sequence"), "{}"), "\"relevancy\"");
  EXPECT_EQ(method(fixture_session("bert_model"), "{}"), "\"rollout\"")
      << "an embedding is nearest to itself";
  EXPECT_EQ(method(captured_session(), "{}"), "\"rollout\"") << "its model is not there";
  const Engine bert = Engine::open(parity_folder("bert_model").string());
  EXPECT_EQ(method_asked(explain_question_of("{'against': 'a dog'}"), bert.facts()).name,
            "relevancy");
}

TEST(Explanation, ATranslationIsAskedAboutTheLastWordThatIsWritten) {
  const Session session = translation_session("{'text': 'I love music.', 'target': 'La musique.'}");
  for (const std::string method : {"raw", "alti+", "relevancy"}) {
    const std::string asked = "'method': '" + method + "'";
    const Answer answer = session.ask(explain_question_of("{" + asked + "}"));
    EXPECT_EQ(fact(answer, "site"), "\"cross\"") << method;
    EXPECT_EQ(
        fact(answer, "notes").find("[\"asked about the last word that is written, ·musique\""), 0u)
        << method;
    EXPECT_TRUE(answer.notes.empty()) << "the caption says it";
    const Answer named = session.ask(explain_question_of("{" + asked + ", 'token': 'musique'}"));
    EXPECT_EQ(explained_scores(named), explained_scores(answer)) << method;
  }
  const Answer raw = session.ask(explain_question_of("{'method': 'raw'}"));
  EXPECT_EQ(explained_fact(raw, "position_name"), "\"writing ·musique\"");
  const Answer stack = session.ask(explain_question_of("{'method': 'rollout'}"));
  EXPECT_EQ(fact(stack, "site"), "\"encoder_self\"") << "what goes through layers begins there";
  EXPECT_EQ(fact(stack, "layer"), "null") << "through all of them";
  // Where nothing but punctuation is written, it is the last of that.
  const Answer dots = translation_session("{'text': 'I love music.', 'target': '...'}")
                          .ask(explain_question_of("{'method': 'raw'}"));
  EXPECT_NE(explained_fact(dots, "position_name").find('.'), std::string::npos);
  EXPECT_EQ(fact(dots, "notes").find("last word"), std::string::npos);
}

TEST(Explanation, KeepsOfTheRunWhatTheMethodReads) {
  const Session session = fixture_session("bert_sequence");
  session.ask(explain_question_of("{'method': 'relevancy'}"));
  const auto first =
      session.run(RunNeeds{.all_logits = true, .records = KeptRecords::kFirstLayers});
  EXPECT_EQ(first->has.records, KeptRecords::kFirstLayers);
  for (const auto& record : first->run().records) EXPECT_EQ(record->site.layer, 0);
  session.ask(explain_question_of("{'method': 'input-gradient', 'class': 1}"));
  EXPECT_EQ(session.run(first->has), first) << "another method of gradients needs no more";
  session.ask(explain_question_of("{'method': 'rollout'}"));
  const auto all = session.run();
  EXPECT_NE(all, first);
  EXPECT_EQ(all->has.records, KeptRecords::kAll);
  session.ask(explain_question_of("{'method': 'relevancy'}"));
  EXPECT_EQ(session.run(), all) << "what holds more serves too";
  session.ask(explain_question_of("{'method': 'alti'}"));
  EXPECT_TRUE(session.run()->has.blocks);
}

TEST(Explanation, OfADecoderTheLastLogitsAreEnoughUnlessATokenIsNamed) {
  const Session session = fixture_session("gpt2_lm");
  const OpenedInput& opened = *session.opened();
  const RunNeeds last = explanation_needs(explain_question_of("{}"), opened);
  EXPECT_TRUE(last.last_logits && !last.all_logits);
  const RunNeeds named = explanation_needs(explain_question_of("{'token': 3}"), opened);
  EXPECT_TRUE(named.all_logits && !named.last_logits);
  EXPECT_TRUE(named.covers(last));
  EXPECT_FALSE(last.covers(named));
  const RunNeeds none = explanation_needs(explain_question_of("{'method': 'raw'}"), opened);
  EXPECT_FALSE(none.all_logits || none.last_logits);
  EXPECT_EQ(run_options(last).logits, LogitRows::kLast);
  EXPECT_EQ(run_options(last.with(named)).logits, LogitRows::kAll);
  EXPECT_FALSE(run_options(none).record.values);
  EXPECT_TRUE(run_options({.blocks = true}).record.values) << "blocks are of values";
}

// Methods that need maps, or the blocks that the run holds.
TEST(Explanation, ACapturedRunAnswersAsItsModelDoes) {
  const std::vector<std::pair<const char*, std::string>> all{
      {"bert_sequence", "rollout"}, {"bert_sequence", "value-norm"},
      {"bert_sequence", "alti"},    {"gpt2_lm", "alti"},
      {"gpt2_lm", "raw"},           {"marian_mt", "value-norm"},
      {"marian_mt", "alti+"},       {"marian_mt", "column-mass"}};
  for (const auto& [fixture, method] : all) {
    SCOPED_TRACE(fixture + (" " + method));
    const Question question = explain_question_of("{'method': '" + method + "'}");
    const Session model = fixture_session(fixture);
    const Answer of_model = model.ask(question);
    const Answer of_run = Session::of(model.run(question)->run()).ask(question);
    EXPECT_EQ(explained_scores(of_run), explained_scores(of_model));
    for (const char* name : {"position_name", "target_scores", "positions", "row", "grid"}) {
      EXPECT_EQ(explained_fact(of_run, name), explained_fact(of_model, name)) << name;
    }
    EXPECT_EQ(fact(of_run, "caption"), fact(of_model, "caption"));
    EXPECT_EQ(fact(of_run, "site"), fact(of_model, "site"));
  }
}

// What a library's user may keep: steps of a text that goes on, which are of no target.
TEST(Explanation, StepsWithoutATargetAreNamedByWhatIsReadThere) {
  const Engine engine = Engine::open(parity_folder("gpt2_lm").string());
  const RunResult written =
      engine.generate(engine.label({.input_ids = {1, 2, 3}}), {.most_tokens = 3});
  const Answer answer = Session::of(written.run).ask(explain_question_of("{'method': 'raw'}"));
  EXPECT_TRUE(explained_fact(answer, "position_name").starts_with("\"seen from "));
  EXPECT_FALSE(explained_scores(answer).empty());
}

TEST(Explanation, WhatIsAskedInVainIsToldBeforeTheModelRuns) {
  const Session session = fixture_session("bert_sequence");
  const auto wrong = [&](const std::string& fields, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { session.ask(explain_question_of(fields)); });
  };
  EXPECT_TRUE(wrong("{'method': 'raw', 'class': 1}", "class", "raw asks nothing about"));
  EXPECT_TRUE(wrong("{'method': 'rollout', 'layer': 0}", "layer", "`method` is rollout"));
  EXPECT_TRUE(wrong("{'layer': 0}", "layer", "relevancy goes through all layers"));
  EXPECT_TRUE(wrong("{'method': 'rollout', 'head': 0}", "head", "`method` is rollout"));
  EXPECT_TRUE(wrong("{'head': 0}", "head", "relevancy takes all heads"));
  EXPECT_TRUE(wrong("{'fusion': 'max'}", "", "relevancy has no parameter 'fusion'"));
  EXPECT_TRUE(wrong("{'method': 'raw', 'layer': 9}", "layer", "9 is beyond"));
  EXPECT_TRUE(wrong("{'method': 'raw', 'query': 1}", "query", "finds no objects"));
  EXPECT_TRUE(wrong("{'method': 'sinks', 'token': 1}", "token", "asks from no position"));
  EXPECT_TRUE(wrong("{'method': 'raw', 'at': [1, 1]}", "at", "choose a word with `token`"));
  EXPECT_TRUE(wrong("{'method': 'raw', 'span': 'a'}", "span", "`method` is raw"));
  EXPECT_TRUE(wrong("{'method': 'raw', 'fusion': 'max'}", "fusion", "is of rollout"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "head-importance cannot be checked", [&] {
    session.ask(explain_question_of("{'method': 'head-importance', 'check': true}"));
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"check_orders"}, "give `check` too",
                         [] { explain_question_of("{'check_orders': 4}"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"at"}, "does not go with `token`",
                         [] { explain_question_of("{'at': [1, 1], 'token': 3}"); }));
}

TEST(Explanation, ACapturedRunSaysWhatOnlyItsModelHas) {
  const Session session = captured_session();
  const auto wrong = [&](const std::string& fields, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { session.ask(explain_question_of(fields)); });
  };
  EXPECT_TRUE(wrong("{'check': true}", "check", "a captured run holds maps alone"));
  EXPECT_TRUE(wrong("{'at': [1, 1]}", "at", "name a patch with `token`"));
  EXPECT_TRUE(wrong("{'site': 'cross'}", "site", "cross is not in the run"));
  EXPECT_TRUE(wrong("{'query': 1}", "query", "no objects"));
  EXPECT_TRUE(wrong("{'token': 'zebra'}", "token", "zebra"));
  EXPECT_TRUE(
      wrong("{'method': 'raw', 'layer': 9}", "", "layer 9 is asked for but there are 0 to 1"));
  EXPECT_TRUE(
      wrong("{'method': 'raw', 'head': 99}", "", "head 99 is asked for but there are 0 to"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "takes gradients of the model",
                         [&] { session.ask(explain_question_of("{'method': 'relevancy'}")); }));
}

TEST(Explanation, ParametersAreNumbersAndWordsOfTheQuestion) {
  const Session session = captured_session();
  const Answer answer =
      session.ask(explain_question_of("{'method': 'rollout', 'residual': 0.25, 'start_layer': 1}"));
  EXPECT_EQ(
      explained_fact(answer, "parameters"),
      R"({"residual":"0.25","start-layer":"1","fusion":"mean","discard":"0","compat":"none"})");
  EXPECT_EQ(to_json(explain_question_of("{'residual': 0.25}")).dump(),
            R"({"kind":"explain","residual":0.25})");
  const Question both = explain_question_of("{'residual': 0.25, 'steps': 8}");
  EXPECT_FALSE(asked_of_method(both, method_named("rollout")).number("steps"));
  EXPECT_EQ(asked_of_method(both, method_named("rollout")).number("residual"), 0.25);
  const std::vector<Method> raw{method_named("raw"), method_named("rollout")};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"steps"},
                         "it is of integrated-gradients but raw, rollout are compared",
                         [&] { check_known_parameters(both, raw); }));
  // Of methods that share a name the field takes what any of them takes.
  const std::vector<FieldInfo> fields = explanation_fields();
  EXPECT_EQ(find_field(fields, "compat")->words,
            (std::vector<std::string>{"none", "reference", "vit-explain"}));
  EXPECT_EQ(find_field(fields, "start_layer")->low, -4095);
}

TEST(Explanation, NumbersAreOverPositionsAndOfHeadsOverLayersAndHeads) {
  const Session session = fixture_session("bert_sequence");
  const Answer positions = session.ask(explain_question_of("{'method': 'raw'}"));
  const auto count = static_cast<int64_t>(explained_scores(positions).size());
  EXPECT_EQ(numbers_of(positions).weights.shape(), (Shape{1, count}));
  EXPECT_EQ(whole(positions).dump(), positions.facts.dump()) << "they stand in the facts";
  const Answer heads = session.ask(explain_question_of("{'method': 'head-importance'}"));
  EXPECT_EQ(numbers_of(heads).weights.shape(), (Shape{2, 3}));
  EXPECT_EQ(explained_fact(heads, "grid"), "[2,3]");
  EXPECT_EQ(numbers_of(heads).rows.positions.size(), 2u);
}

// A tiny model of pictures that embeds, with a preprocessor.
Engine embedding_engine(const std::filesystem::path& folder) {
  std::filesystem::copy(parity_folder("vit_model"), folder);
  std::ofstream(folder / "preprocessor_config.json")
      << R"({"image_processor_type": "ViTImageProcessor", "do_resize": true, "do_rescale": true,
             "do_normalize": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
             "size": {"height": 32, "width": 32}})";
  return Engine::open(folder.string());
}

PictureBytes scene_bytes(int number) {
  const std::string name = fmt::format("scene-{}.png", number);
  return {.bytes = read_text_file(test_data("../../models/scenes-vit/demo") / name), .name = name};
}

TEST(Explanation, IsAboutBeingSimilarToAPictureThatComesWithTheQuestion) {
  const TempFolder folder;
  Input input;
  input.what = scene_bytes(1);
  const Session session = Session::open(embedding_engine(folder / "model"), std::move(input));
  Question question = explain_question_of("{'method': 'input-gradient', 'against': 'other'}");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"against"}, "sees pictures only", [&] {
    session.ask(question);
  })) << "no file is opened because a text is its name";
  question.pictures.emplace("other", scene_bytes(2));
  const Answer answer = session.ask(question);
  EXPECT_EQ(explained_fact(answer, "target"), "\"similarity to \u201cother\u201d\"");
  EXPECT_EQ(fact(answer, "question"),
            R"({"kind":"explain","method":"input-gradient","against":"other"})");
  question.pictures.insert_or_assign("other", scene_bytes(3));
  EXPECT_NE(explained_scores(session.ask(question)), explained_scores(answer));
}

TEST(Explanation, ACheckedOneOutlivesItsRunAndIsTheSameInAnotherThread) {
  Answer answer;
  std::string before;
  {
    const Session session = fixture_session("bert_sequence");
    answer =
        session.ask(explain_question_of("{'method': 'rollout', 'check': true, 'check_orders': 2}"));
    before = whole(answer).dump();
  }
  ASSERT_EQ(answer.beside.size(), 2u);
  EXPECT_EQ(answer.beside[0].name, "grades");
  EXPECT_TRUE(std::holds_alternative<TableFigure>(answer.beside[0].figure));
  EXPECT_TRUE(std::holds_alternative<CurvesFigure>(answer.beside[1].figure));
  const Json& check = explained_result(answer).at("check", "");
  EXPECT_EQ(check.at("orders", "").as_int(""), 2);
  EXPECT_EQ(check.at("grades", "").as_object("").size(), kGradeKinds);
  EXPECT_EQ(text_in(answer.figure).metadata.at("check", "").find("deletion_curve"), nullptr)
      << "too long for every figure";
  EXPECT_EQ(std::async(std::launch::async, [&] { return whole(answer).dump(); }).get(), before);
}

}  // namespace
}  // namespace fovea
