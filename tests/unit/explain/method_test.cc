#include "fovea/explain/method.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "fovea/base/file.h"
#include "support/data.h"
#include "support/errors.h"
#include "support/runs.h"
#include "unit/explain/block_records.h"

namespace fovea {
namespace {

// A subject for requests that are refused before anything runs.
class NeverRun final : public Subject {
 public:
  SubjectOutput run(const std::vector<Intervention>&, const RecorderOptions&) override {
    ADD_FAILURE() << "the model was run";
    return {};
  }
  bool multi_label() const override { return false; }
};

// Two layers of two heads, with values but without blocks.
Run plain_run() {
  return support::text_run({"[CLS]", "the", "cat", "sat", "[SEP]"}, 2, false, 2);
}

// "alti+" is alti_plus.cc.
std::string file_of(std::string name) {
  std::ranges::replace(name, '-', '_');
  if (name.ends_with('+')) name = name.substr(0, name.size() - 1) + "_plus";
  return name + ".cc";
}

std::vector<std::string> method_files() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(test_data("../../fovea/explain/methods"))) {
    files.push_back(entry.path().filename().string());
  }
  std::ranges::sort(files);
  return files;
}

TEST(Methods, AreTheFilesOfTheirFolderInOrder) {
  std::vector<std::string> files;
  for (const Method& method : all_methods()) files.push_back(file_of(method.name));
  EXPECT_EQ(files, method_files());
}

TEST(Methods, DescribeThemselves) {
  for (const Method& method : all_methods()) {
    SCOPED_TRACE(method.name);
    EXPECT_FALSE(method.summary.empty());
    EXPECT_LE(method.summary.size(), 100U);  // one line of help
    EXPECT_EQ(method.summary.find('\n'), std::string::npos);
    EXPECT_FALSE(method.summary.ends_with('.'));
    // A question, and when the answer misleads.
    EXPECT_NE(method.answers.find('?'), std::string::npos);
    EXPECT_TRUE(method.answers.ends_with('.'));
    EXPECT_FALSE(method.cost.empty());
    EXPECT_NE(method.explain, nullptr);
  }
}

TEST(Methods, HaveTheirSectionInTheGuide) {
  const std::string guide = read_text_file(test_data("../../docs/methods.md"));
  for (const Method& method : all_methods()) {
    EXPECT_NE(guide.find(fmt::format("\n## {}\n", method.name)), std::string::npos) << method.name;
    EXPECT_NE(guide.find(fmt::format("\n| [{}](#", method.name)), std::string::npos)
        << method.name << " is missing in the table";
  }
}

TEST(Methods, HaveParametersWhoseDefaultsAreValid) {
  const fovea::Run run = plain_run();
  const ExplainRequest nothing_given{.run = run};
  for (const Method& method : all_methods()) {
    std::set<std::string> names;
    for (const MethodParameter& parameter : method.parameters) {
      SCOPED_TRACE(method.name + " " + parameter.name);
      EXPECT_TRUE(names.insert(parameter.name).second);
      EXPECT_FALSE(parameter.name.empty());
      EXPECT_EQ(parameter.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos);
      EXPECT_FALSE(parameter.help.empty());
      if (parameter.choices.empty()) {
        EXPECT_LT(parameter.least, parameter.most);
        EXPECT_NO_THROW(number_parameter(method, nothing_given, parameter.name));
      } else {
        EXPECT_GE(parameter.choices.size(), 2U);
        EXPECT_EQ(choice_parameter(method, nothing_given, parameter.name), parameter.otherwise);
      }
    }
  }
}

TEST(Methods, AreFoundByName) {
  for (const Method& method : all_methods()) EXPECT_EQ(method_named(method.name).name, method.name);
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no method 'rolout'; there are ablation, ",
                         [] { method_named("rolout"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "value-zeroing", [] { method_named(""); }));
}

TEST(Explain, RefusesParametersThatTheMethodDoesNotKnow) {
  const fovea::Run run = plain_run();
  const auto refuses = [&](const char* method, const char* parameter, std::string_view says) {
    return fails_with(ErrorKind::kInvalidArgument, says, [&] {
      explain(method_named(method), {.run = run, .parameters = {{parameter, "1"}}});
    });
  };
  EXPECT_TRUE(refuses("raw", "discard", "raw has no parameter 'discard'; it has none"));
  EXPECT_TRUE(refuses("rollout", "discrd", "it has residual, start-layer, fusion, discard"));
}

TEST(Explain, RefusesValuesOutsideOfTheirRange) {
  const fovea::Run run = plain_run();
  const auto refuses = [&](const char* parameter, const char* value, std::string_view says) {
    return fails_with(ErrorKind::kInvalidArgument, says, [&] {
      explain(method_named("rollout"), {.run = run, .parameters = {{parameter, value}}});
    });
  };
  for (const char* value : {"1.5", "-0.1", "nan", "inf", "", "half", "0.5x", " 0.5", "1e999"}) {
    SCOPED_TRACE(value);
    EXPECT_TRUE(refuses(
        "residual", value,
        fmt::format("residual of rollout is '{}' but must be a number from 0 to 1", value)));
  }
  EXPECT_TRUE(refuses("fusion", "median", "must be one of: mean, max, min"));
  EXPECT_TRUE(refuses("start-layer", "1.5", "start-layer of rollout is 1.5 but must be a whole"));
  EXPECT_TRUE(refuses("start-layer", "7", "start-layer of rollout is 7 but the layers are 0 to 1"));
  const Explanation edge =
      explain(method_named("rollout"), {.run = run, .parameters = {{"residual", "1"}}});
  EXPECT_EQ(edge.scores[0], 1);
}

TEST(Explain, RefusesMorePositionsThanAMethodTakes) {
  const Method flow = method_named("flow");
  check_positions(flow, 128);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "at most 128 positions but there are 129",
                         [&] { check_positions(flow, 129); }));
  check_positions(method_named("rollout"), int64_t{1} << 40);
  Method small = method_named("raw");
  small.most_positions = 4;
  const fovea::Run run = plain_run();
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "at most 4 positions but there are 5",
                         [&] { explain(small, {.run = run}); }));
}

TEST(ScoresHeads, IsSaidByTheMethodOrItsUnit) {
  EXPECT_TRUE(scores_heads(method_named("span-mass"), {}));
  EXPECT_TRUE(scores_heads(method_named("head-importance"), {}));
  EXPECT_FALSE(scores_heads(method_named("raw"), {}));
  EXPECT_FALSE(scores_heads(method_named("ablation"), {{"unit", "edge"}}));
  EXPECT_TRUE(scores_heads(method_named("ablation"), {{"unit", "head"}}));
}

TEST(Explain, NamesMethodsThatWorkWhereOneCannot) {
  const fovea::Run run = plain_run();
  try {
    explain(method_named("alti"), {.run = run});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(message.find("without values and the block"), message.npos) << message;
    ASSERT_NE(message.find("; use "), message.npos) << message;
    const std::string_view named = message.substr(message.find("; use "));
    for (const char* able : {"column-mass", "raw", "rollout", "sinks", "span-mass"}) {
      EXPECT_NE(named.find(able), named.npos) << message;
    }
    // These need blocks too, or the model.
    for (const char* unable : {"alti", "value-norm", "value-zeroing", "ablation"}) {
      EXPECT_EQ(named.find(unable), named.npos) << message;
    }
  }
  NeverRun subject;
  try {
    explain(method_named("alti"), {.run = run, .subject = &subject});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string_view message = error.what();
    EXPECT_NE(message.find("; use ablation, "), message.npos) << message;
    EXPECT_EQ(message.find(" alti,"), message.npos) << message;  // itself
  }
}

TEST(Explain, SaysThatNoMethodCanWithoutAnyMap) {
  const fovea::Run empty{.model = "nothing"};
  for (const Method& method : all_methods()) {
    EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "no method can", [&] {
      explain(method, {.run = empty});
    })) << method.name;
  }
}

TEST(Explain, RefusesAMethodWhoseNeedsAreNotMet) {
  const fovea::Run run = plain_run();
  NeverRun subject;
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "ablation runs the model again",
                         [&] { explain(method_named("ablation"), {.run = run}); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "asks about an output but none is given",
                 [&] { explain(method_named("ablation"), {.run = run, .subject = &subject}); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"span"}, "none is given; give its text",
                         [&] { explain(method_named("span-mass"), {.run = run}); }));
}

TEST(Explain, RefusesLayersHeadsAndPositionsThatAreNotThere) {
  const fovea::Run run = plain_run();
  const auto refuses = [&](const ExplainRequest& request, std::string_view says) {
    return fails_with(ErrorKind::kInvalidArgument, says,
                      [&] { explain(method_named("raw"), request); });
  };
  EXPECT_TRUE(refuses({.run = run, .layer = 2}, "layer 2 is asked for but there are 0 to 1"));
  EXPECT_TRUE(refuses({.run = run, .layer = -1}, "layer -1"));
  EXPECT_TRUE(refuses({.run = run, .head = 2}, "head 2 is asked for but there are 0 to 1"));
  EXPECT_TRUE(refuses({.run = run, .position = 5}, "position 5 is asked for but there are 0 to 4"));
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "cross", [&] {
    explain(method_named("raw"), {.run = run, .kind = SiteKind::kCross});
  }));
}

TEST(HeadsAxis, IsLayersTimesHeads) {
  const fovea::Run run = plain_run();
  const Axis axis = heads_axis(run.records);
  EXPECT_EQ(axis.name, "heads");
  EXPECT_EQ(axis.grid_rows, 2);
  EXPECT_EQ(axis.grid_cols, 2);
  ASSERT_EQ(axis.positions.size(), 4U);
  EXPECT_EQ(axis.positions[2].text, "layer 1 head 0");
  std::vector uneven = run.records;
  uneven.push_back(support::block_record({.heads = 3}, 5, 2));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "3 heads", [&] { heads_axis(uneven); }));
}

}  // namespace
}  // namespace fovea
