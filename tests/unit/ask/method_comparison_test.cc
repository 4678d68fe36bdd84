// Methods side by side: each is graded as it is alone, and what is wrong with one input or one
// method is told while others are graded.
#include "fovea/ask/method_comparison.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::fixture_session;
using support::question_of;

constexpr const char* kChecked = "{'kind': 'explain', 'check': true, 'check_orders': 2}";

std::vector<Method> methods_named(const std::vector<std::string>& names) {
  std::vector<Method> methods;
  for (const std::string& name : names) methods.push_back(method_named(name));
  return methods;
}

std::string message_alone(const Error& error) {
  return error.field().empty() ? error.what() : error.field() + ": " + error.what();
}

MethodComparison compared(const ComparedInputs& inputs, const std::vector<std::string>& names,
                          const std::string& question = kChecked) {
  const std::vector<Method> methods = methods_named(names);
  return compare_methods(inputs, methods, question_of(question), message_alone);
}

ComparedInputs one_input() {
  return {1, [](int64_t) { return fixture_session("bert_sequence"); }};
}

TEST(MethodComparison, GradesEveryMethodAsItIsGradedAlone) {
  const MethodComparison comparison = compared(one_input(), {"raw", "alti", "span-mass"});
  EXPECT_EQ(comparison.inputs, 1);
  for (const size_t m : {size_t{0}, size_t{1}}) {
    const ComparedMethod& method = comparison.methods[m];
    ASSERT_EQ(method.cards.size(), 1u) << method.reason;
    Question question = question_of(kChecked);
    question.fields.set("method", method.name);
    const Json check =
        fixture_session("bert_sequence").ask(question).facts.at("result", "").at("check", "");
    EXPECT_EQ(check.at("answer", "").as_string(""), comparison.answer);
    for (size_t k = 0; k < kGradeKinds; ++k) {
      const Json& grade = check.at("grades", "").at(grade_infos()[k].name, "");
      EXPECT_EQ(grade.at("value", "").as_double(""), method.mean[k].value.mean)
          << method.name << ' ' << grade_infos()[k].name;
    }
  }
  EXPECT_TRUE(comparison.methods[2].cards.empty());
  EXPECT_NE(comparison.methods[2].reason.find("cannot be checked"), std::string::npos);
}

TEST(MethodComparison, OneModelRunServesMethodsThatReadTheSame) {
  std::optional<Session> session;
  const ComparedInputs inputs{1, [&](int64_t) {
                                session = fixture_session("bert_sequence");
                                return *session;
                              }};
  compared(inputs, {"raw"});
  const auto first = session->run();
  session->ask(question_of("{'kind': 'explain', 'method': 'rollout'}"));
  EXPECT_EQ(session->run(), first);
}

TEST(MethodComparison, WhatIsWrongWithOneInputIsToldOnce) {
  const ComparedInputs inputs{3, [](int64_t input) {
                                if (input == 1) fail(ErrorKind::kBadFile, "b.png is no picture");
                                return fixture_session("bert_sequence");
                              }};
  const MethodComparison comparison = compared(inputs, {"raw", "rollout"});
  EXPECT_EQ(comparison.inputs, 2);
  EXPECT_EQ(comparison.left_out, 1);
  EXPECT_EQ(comparison.first_reason, "b.png is no picture");
  EXPECT_EQ(comparison.methods[1].cards.size(), 2u);
  EXPECT_EQ(comparison_json(comparison).at("methods", "").as_array("").size(), 2u);
}

TEST(MethodComparison, RefusesWhatNoMethodCanTake) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"steps"}, "raw is compared", [] {
    compared(one_input(), {"raw"}, "{'kind': 'explain', 'check': true, 'steps': 4}");
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "the first, raw: class '#9' is asked about", [] {
    compared(one_input(), {"raw"}, "{'kind': 'explain', 'check': true, 'class': 9}");
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "the first, raw: token: ", [] {
    compared({1, [](int64_t) -> Session { fail(ErrorKind::kNotFound, Field{"token"}, "gone"); }},
             {"raw"});
  })) << "an error about a field is told as the caller tells it";
}

}  // namespace
}  // namespace fovea
