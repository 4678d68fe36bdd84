// Methods side by side: each is graded as it is alone, and what is wrong with one input or one
// method is told while others are graded.
#include "fovea/ask/many/method_grades.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "fovea/ask/ask_all.h"
#include "fovea/ask/explanation_fields.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::fixture_session;
using support::question_of;
using support::result_of;

constexpr const char* kFixture = "bert_sequence";

const Engine& classifier() {
  static const Engine engine = Engine::open(parity_folder(kFixture).string());
  return engine;
}

Sample fixture_sample() {
  Sample sample;
  sample.input.what = read_inputs(parity_folder(kFixture) / "inputs.safetensors");
  return sample;
}

// The same input `count` times. `read` may throw, or change it.
ManyInputs inputs_of(int64_t count, std::function<void(int64_t, Sample&)> read = nullptr) {
  ManyInputs inputs{.next = nullptr, .count = count};
  inputs.next = [=, number = int64_t{0}]() mutable -> std::optional<NamedInput> {
    if (number == count) return {};
    const int64_t its = number++;
    return NamedInput{"input " + std::to_string(its), [=] {
                        Sample sample = fixture_sample();
                        if (read) read(its, sample);
                        return sample;
                      }};
  };
  return inputs;
}

Question comparing(const std::string& methods, const std::string& more = "") {
  return question_of("{'kind': 'compare', 'check_orders': 2, 'methods': [" + methods + "]" + more +
                     "}");
}

Answer compared(const ManyInputs& inputs, const Question& question) {
  return answer_of(ask_all(classifier(), inputs, question), classifier(), inputs, question);
}

TEST(MethodGrades, EveryMethodIsGradedAsItIsAlone) {
  const Answer answer = compared(inputs_of(1), comparing("'raw', 'alti', 'span-mass'"));
  const Json result = result_of(answer);
  const Json::Array& methods = result.at("methods", "").as_array("");
  ASSERT_EQ(methods.size(), 3U);
  for (const size_t m : {size_t{0}, size_t{1}}) {
    Question question = question_of("{'kind': 'explain', 'check': true, 'check_orders': 2}");
    question.fields.set("method", methods[m].at("name", ""));
    const Json check = result_of(fixture_session(kFixture).ask(question)).at("check", "");
    EXPECT_EQ(check.at("answer", "").as_string(""), result.at("answer", "").as_string(""));
    for (const GradeInfo& info : grade_infos()) {
      const Json& alone = check.at("grades", "").at(info.name, "");
      const Json& beside = methods[m].at("grades", "").at(info.name, "");
      EXPECT_EQ(beside.at("value", "").dump(), alone.at("value", "").dump()) << info.name;
      EXPECT_EQ(beside.at("verdict", "").dump(), alone.at("verdict", "").dump()) << info.name;
    }
  }
  EXPECT_EQ(methods[2].find("grades"), nullptr);
  EXPECT_NE(methods[2].at("reason", "").as_string("").find("cannot be checked"), std::string::npos);
  EXPECT_EQ(answer.records->rows.size(), 3 * kGradeKinds) << "two methods and random numbers";
}

TEST(MethodGrades, WhatIsWrongWithOneInputIsToldOnce) {
  const Answer answer = compared(inputs_of(3,
                                           [](int64_t input, Sample&) {
                                             if (input == 1) {
                                               fail(ErrorKind::kBadFile, "b.png is no picture");
                                             }
                                           }),
                                 comparing("'raw', 'rollout'"));
  EXPECT_EQ(support::fact(answer, "input"),
            R"({"inputs":2,"left_out":1,"first_reason":"input 1: b.png is no picture"})");
  const Json result = result_of(answer);
  EXPECT_EQ(result.find("answer"), nullptr) << "each input has its own";
  EXPECT_EQ(result.at("methods", "").as_array("")[1].at("inputs", "").as_int(""), 2);
}

TEST(MethodGrades, PartsAndAFileGiveTheSameNumbers) {
  const Question question = comparing("'raw', 'input-gradient'");
  const auto changed = [](int64_t input, Sample& sample) {
    auto& ids = std::get<ModelInputs>(sample.input.what).input_ids;
    std::swap(ids[1], ids[1 + static_cast<size_t>(input)]);
  };
  const ManyInputs all = inputs_of(3, changed);
  const ManyState whole = ask_all(classifier(), all, question);
  const auto part = [&](int64_t begin, int64_t end) {
    ManyInputs inputs = inputs_of(
        end - begin, [=](int64_t input, Sample& sample) { changed(begin + input, sample); });
    inputs.first = begin;
    inputs.count = 0;  // of a part nobody says how many there are in all
    return ask_all(classifier(), inputs, question);
  };
  ManyState merged = part(1, 3);
  merged.merge(part(0, 1));
  merged = ManyState::from_json(Json::parse(merged.to_json().dump(), "a file"), "a file");
  EXPECT_EQ(answer_of(merged, classifier(), all, question).facts.at("result", "").dump(),
            answer_of(whole, classifier(), all, question).facts.at("result", "").dump());
}

TEST(MethodGrades, AllMethodsAreComparedUnlessSomeAreNamed) {
  EXPECT_EQ(methods_compared(question_of("{'kind': 'compare'}")).size(), all_methods().size());
  EXPECT_EQ(methods_compared(comparing("'raw', 'alti', 'raw'")).size(), 2U);
}

TEST(MethodGrades, RefusesWhatNoMethodCanTake) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"steps"}, "raw is compared",
                         [] { compared(inputs_of(1), comparing("'raw'", ", 'steps': 4")); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no method can be graded here; the first, raw: class",
                         [] { compared(inputs_of(1), comparing("'raw'", ", 'class': 9")); }));
}

}  // namespace
}  // namespace fovea
