// A session that stays open for several questions of one picture.
#include <gtest/gtest.h>

#include "fovea/cli/ask_options.h"
#include "fovea/cli/parse.h"
#include "support/data.h"

namespace fovea {
namespace {

Args detect_args(const std::vector<std::string>& more) {
  const std::string model = test_data("../../models/scenes-detr").lexically_normal().string();
  std::vector<std::string> arguments{model + "/demo/scene-1.png", "-m", model};
  arguments.insert(arguments.end(), more.begin(), more.end());
  for (const Command& command : all_commands()) {
    if (command.name == "detect") return parse_command(command, arguments).args;
  }
  throw std::runtime_error("no such verb");
}

TEST(KeptSession, IsUsedForAnotherQuestionOfTheSamePictureOnly) {
  KeptSession kept;
  const auto run = [&](const std::vector<std::string>& more) {
    const Args args = detect_args(more);
    const GivenInput picture{.kind = GivenInput::Kind::kPicture, .value = args["FILE"]};
    const Question question = typed_question(args, "detect", RunSort::kObjects);
    const Session& session = kept.open(args, picture, "", question, {.values = false});
    session.ask(question);
    return session.run();
  };
  const std::vector<std::string> small{"--size", "240x192"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), small.begin(), small.end());
    return more;
  };
  const auto first = run(small);
  EXPECT_EQ(run(with({"--threshold", "0.99"})), first);
  EXPECT_EQ(run(with({"--view", "queries", "--head", "2"})), first);
  EXPECT_NE(run(with({"--at", "100,80", "--to", "200,120"})), first) << "it needs positions";
  EXPECT_NE(run({"--size", "320x256"}), first);
  EXPECT_NE(run(small), first) << "one is kept, not all";
}

}  // namespace
}  // namespace fovea
