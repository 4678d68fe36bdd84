// Counts over many inputs: the same bits however they come about, and what is wrong with one input.
#include "fovea/ask/ask_all.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "fovea/ask/many/counter.h"
#include "fovea/base/team.h"
#include "support/errors.h"
#include "support/model_with_words.h"

namespace fovea {
namespace {

using support::fact;
using support::question_of;
using support::translation_engine;

const Engine& bert_of_words() {
  static const TempFolder folder;
  static const Engine engine = Engine::open(with_words("bert_masked_lm", folder).string());
  return engine;
}

std::string sentence(int64_t number) {
  constexpr const char* kWords[] = {"the", "cat", "sats", "unbelievable", "mat", "on", "é"};
  std::string text = "the";
  for (int64_t i = 0; i < 1 + number % 11; ++i)
    text += std::string(" ") + kWords[(number * 5 + i * i) % 7];
  return text;
}

// Sentences [begin, end) of a corpus. `read` is called with each that is read.
ManyInputs sentences(int64_t begin, int64_t end, std::function<void(int64_t)> read = nullptr) {
  ManyInputs inputs{.next = nullptr, .count = end - begin, .first = begin};
  inputs.next = [=, number = begin]() mutable -> std::optional<NamedInput> {
    if (number == end) return {};
    const int64_t its = number++;
    return NamedInput{"sentence " + std::to_string(its), [=] {
                        if (read) read(its);
                        return Sample{.input = {.what = Text{sentence(its)}}};
                      }};
  };
  return inputs;
}

std::string sums_of_state(const ManyState& state) {
  return state.sums.total().to_json().dump();
}

ManyState count_stats(const ManyInputs& inputs, ManyState from = {}, const Watch& watch = {}) {
  return ask_all(bert_of_words(), inputs, question_of("{'kind': 'stats'}"), watch,
                 {.state = std::move(from)});
}

constexpr int64_t kSentences = 700;

TEST(AskAll, StatisticsHaveTheSameBitsOnOneThreadAndManyInterruptedAndInParts) {
  const int threads = thread_count();
  set_thread_count(1);
  const std::string whole = sums_of_state(count_stats(sentences(0, kSentences)));
  set_thread_count(4);
  EXPECT_EQ(sums_of_state(count_stats(sentences(0, kSentences))), whole);
  // Interrupted five times, each time through a file.
  ManyState state;
  for (const int64_t stop : {90, 250, 260, 500, 680}) {
    const Watch watch{.cancel = {}};
    state = count_stats(sentences(0, kSentences,
                                  [&](int64_t number) {
                                    if (number == stop) watch.cancel.cancel();
                                  }),
                        std::move(state), watch);
    EXPECT_TRUE(state.cancelled);
    EXPECT_LE(state.inputs(), stop);
    state = ManyState::from_json(Json::parse(state.to_json().dump(), "a file"), "a file");
  }
  state = count_stats(sentences(0, kSentences), std::move(state));
  EXPECT_FALSE(state.cancelled);
  EXPECT_EQ(sums_of_state(state), whole);
  // Three processes, who end in any order.
  ManyState merged = count_stats(sentences(384, kSentences));
  merged.merge(count_stats(sentences(0, 128)));
  merged.merge(count_stats(sentences(128, 384)));
  EXPECT_EQ(sums_of_state(merged), whole);
  EXPECT_EQ(merged.inputs(), kSentences);
  set_thread_count(threads);
}

TEST(AskAll, PartsOfAnotherQuestionOrOfTheSameInputsDoNotMerge) {
  ManyState state = count_stats(sentences(0, 128));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "input 0 is in both",
                         [&] { state.merge(count_stats(sentences(0, 128))); }));
  const ManyState other =
      ask_all(translation_engine(), sentences(128, 130), question_of("{'kind': 'stats'}"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "model was", [&] { state.merge(other); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "the state is of another count: model was", [&] {
        ask_all(translation_engine(), sentences(0, 130), question_of("{'kind': 'stats'}"), {},
                {.state = state});
      }));
  EXPECT_EQ(state.inputs(), 128);
}

TEST(AskAll, WhatIsWrongWithAnInputIsCountedAndTheFirstIsNamed) {
  ManyInputs inputs = sentences(0, 300, [](int64_t number) {
    if (number % 100 == 42) fail(ErrorKind::kNotFound, "no such file; check the path");
  });
  const ManyState state = count_stats(inputs);
  EXPECT_EQ(state.left_out.count, 3);
  EXPECT_EQ(state.left_out.first, 42);
  const Answer answer = answer_of(state, bert_of_words(), inputs, question_of("{'kind': 'stats'}"));
  EXPECT_EQ(
      fact(answer, "input"),
      R"({"inputs":297,"left_out":3,"first_reason":"sentence 42: no such file; check the path"})");
  EXPECT_EQ(answer.notes.at(0),
            "3 of 300 inputs were left out; the first: sentence 42: no such file; check the path");
  // A picture among texts is one of these, too.
  inputs = sentences(0, 1);
  inputs.next = [one = false]() mutable -> std::optional<NamedInput> {
    if (std::exchange(one, true)) return {};
    return NamedInput{"p.png", [] { return Sample{.input = {.what = PictureBytes{"x"}}}; }};
  };
  const ManyState none = count_stats(inputs);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "the first: p.png: it is no text", [&] {
    answer_of(none, bert_of_words(), inputs, question_of("{'kind': 'stats'}"));
  }));
}

TEST(AskAll, FactsSayWhatWasCountedOfWhichModel) {
  const ManyInputs inputs = sentences(0, 20);
  const Question question = question_of("{'kind': 'stats', 'metric': 'sink'}");
  const Answer answer =
      answer_of(ask_all(bert_of_words(), inputs, question), bert_of_words(), inputs, question);
  EXPECT_EQ(fact(answer, "question"), R"({"kind":"stats","metric":"sink"})");
  EXPECT_EQ(fact(answer, "site"), "\"self\"");
  EXPECT_EQ(answer.facts.at("result", "").at("heads", "").as_array("").size(), 6u);
  ASSERT_TRUE(answer.records);
  EXPECT_EQ(answer.records->rows.size(), 6u);
  EXPECT_EQ(answer.records->columns.front(), "layer");
  EXPECT_EQ(std::get<MatrixFigure>(answer.figure).value_name, "sink");
  EXPECT_EQ(numbers_of(answer).panels.front(), "entropy");
  // How it is drawn does not matter for going on.
  EXPECT_EQ(identity_of(bert_of_words(), inputs, question).dump(),
            identity_of(bert_of_words(), inputs, question_of("{'kind': 'stats'}")).dump());
}

TEST(AskAll, WhatDoesNotGoTogetherIsToldBeforeAnInputIsRead) {
  const auto wrong = [&](const std::string& text, const char* field, const char* part) {
    const ManyInputs inputs = sentences(0, 5, [](int64_t) { ADD_FAILURE() << "it was read"; });
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { ask_all(bert_of_words(), inputs, question_of(text)); });
  };
  EXPECT_TRUE(wrong("{'kind': 'heads'}", "kind", "heads is asked of one run"));
  EXPECT_TRUE(wrong("{'kind': 'stats', 'metric': 'retrieval'}", "metric", "has only entropy"));
  EXPECT_TRUE(wrong("{'kind': 'stats', 'site': 'cross'}", "site", "cross is not what"));
  EXPECT_TRUE(fails_with(
      ErrorKind::kInvalidArgument, Field{"kind"}, "counted over many inputs",
      [] { support::captured_session().ask(question_of("{'kind': 'evaluate_boxes'}")); }));
}

// English, French, and links that are true of two of them.
ManyInputs few_pairs(int64_t begin, int64_t end) {
  static const std::vector<std::pair<std::string, std::string>> kPairs{
      {"I love music.", "J'aime la musique."},
      {"The cat sleeps.", "Le chat dort."},
      {"", "Rien."},
      {"The house is small.", "La maison est petite."},
      {"word", ""},
      {"The dog is tired.", "Le chien est fatigué."}};
  ManyInputs inputs{.next = nullptr, .count = end - begin, .first = begin};
  inputs.next = [=, number = begin]() mutable -> std::optional<NamedInput> {
    if (number == end) return {};
    const auto its = static_cast<size_t>(number++);
    return NamedInput{"pair " + std::to_string(its), [its] {
                        Sample sample{.input = {.what = Text{kPairs[its].first}}};
                        sample.input.translate.target = kPairs[its].second;
                        if (its < 2) sample.truth.links = GoldAlignment{{{0, 0}}, {{0, 0}}};
                        return sample;
                      }};
  };
  return inputs;
}

TEST(AskAll, PairsAreAlignedByTheMapThatTheFirstSettle) {
  const Question question = question_of("{'kind': 'align_pairs', 'rank': 2}");
  std::vector<size_t> rows;
  const ManyState whole =
      ask_all(translation_engine(), few_pairs(0, 6), question, {},
              {.between = [&](ManyState& state) { rows.push_back(state.rows.size()); }});
  EXPECT_EQ(rows, (std::vector<size_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(whole.rows[2].numbers.empty()) << "a side without words has no links";
  EXPECT_FALSE(whole.rows[3].numbers.empty());
  // Somebody else goes on with the map that is settled, and merges what they have.
  ManyState first = ask_all(translation_engine(), few_pairs(0, 2), question);
  ManyState other;
  other.of = first.of;
  other.settled = first.settled;
  ManyState second =
      ask_all(translation_engine(), few_pairs(2, 6), question, {}, {.state = std::move(other)});
  second.merge(std::move(first));
  EXPECT_EQ(second.to_json().dump(), whole.to_json().dump());
  const Answer answer = answer_of(whole, translation_engine(), few_pairs(0, 6), question);
  const Json& result = answer.facts.at("result", "");
  EXPECT_EQ(result.at("pairs", "").dump(), "6");
  EXPECT_EQ(result.at("alignments", "").as_array("").size(), 6u);
  EXPECT_NE(result.find("aer"), nullptr) << "two have gold links";
  EXPECT_EQ(fact(answer, "site"), "\"cross\"");
}

TEST(AskAll, TwoDirectionsNeedASecondModel) {
  const Question question =
      question_of("{'kind': 'align_pairs', 'reverse_model': 'x', 'symmetrize': 'union'}");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"reverse_model"}, "not opened",
                         [&] { ask_all(translation_engine(), few_pairs(0, 1), question); }));
  const ManyState joined = ask_all(translation_engine(), few_pairs(0, 2), question, {},
                                   {.reverse = translation_engine()});
  const ManyState forward =
      ask_all(translation_engine(), few_pairs(0, 2), question_of("{'kind': 'align_pairs'}"));
  EXPECT_GE(joined.rows[0].numbers.size(), forward.rows[0].numbers.size());
  EXPECT_NE(joined.settled.find("reverse_map"), nullptr);
}

ManyInputs scenes(int64_t begin, int64_t end) {
  ManyInputs inputs{.next = nullptr, .count = end - begin, .first = begin, .pictures = true};
  inputs.next = [=, number = begin]() mutable -> std::optional<NamedInput> {
    if (number == end) return {};
    const int64_t its = number++;
    return NamedInput{
        "scene " + std::to_string(its), [its] {
          const auto file = MappedFile::open(test_data("../../models/scenes-vit/demo/scene-1.png"));
          Sample sample{.input = {.what = PictureBytes{std::string(as_text(file->bytes()))}}};
          sample.input.size = PictureSize{32, 32};
          sample.truth.objects.emplace();
          const double side = 60 + 20.0 * static_cast<double>(its);
          if (its != 1) sample.truth.objects->push_back({1, "x", {10, 10, side, side}});
          return sample;
        }};
  };
  return inputs;
}

TEST(AskAll, ScoresOfPicturesMergeAndThoseWithoutObjectsAreLeftOut) {
  const Engine engine =
      Engine::open(test_data("../../models/scenes-vit").lexically_normal().string());
  const Question question = question_of("{'kind': 'evaluate_boxes', 'baseline': true}");
  const ManyState whole = ask_all(engine, scenes(0, 3), question);
  ManyState parts = ask_all(engine, scenes(1, 3), question);
  parts.merge(ask_all(engine, scenes(0, 1), question));
  const Json kept = Json::parse(parts.to_json().dump(), "a file");
  EXPECT_EQ(ManyState::from_json(kept, "a file").to_json().dump(), whole.to_json().dump());
  const Answer answer = answer_of(whole, engine, scenes(0, 3), question);
  EXPECT_EQ(fact(answer, "input"),
            R"({"inputs":2,"left_out":1,"first_reason":"scene 1: no object is in it"})");
  const Json& result = answer.facts.at("result", "");
  EXPECT_EQ(result.at("per_picture", "").as_array("").size(), 2u);
  EXPECT_NE(result.at("scores", "").dump(), "{}");
  EXPECT_NE(result.find("random_weights"), nullptr);
  EXPECT_EQ(std::get<TableFigure>(answer.figure).columns.size(), 2u);
}

}  // namespace
}  // namespace fovea
