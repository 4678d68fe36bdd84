#include "fovea/cli/command.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

Args some_args() {
  return {"look",
          {{.name = "INPUT", .help = "what to look at", .required = false}},
          {Option::text("size", "WxH", "of a picture"), Option::flag("column", "who looks at it")},
          {}};
}

std::string told_about(std::string_view field, const Args& args = some_args()) {
  return told(Error(ErrorKind::kInvalidArgument, Field{field}, "3 x 3 is too small"), args);
}

TEST(Told, AnErrorHasTheVerbsWordForItsFieldInFront) {
  EXPECT_EQ(told_about("size"), "--size: 3 x 3 is too small");
  EXPECT_EQ(told_about("input"), "INPUT: 3 x 3 is too small");
}

TEST(Told, AFieldThatTheVerbDoesNotTakeKeepsItsName) {
  EXPECT_EQ(told_about("layer"), "layer: 3 x 3 is too small");
  EXPECT_EQ(told_about("size", Args(std::vector<std::string>{"--size", "3x3"})),
            "size: 3 x 3 is too small");
}

TEST(Told, AnErrorAboutNoFieldIsItsMessage) {
  EXPECT_EQ(told_about(""), "3 x 3 is too small");
  EXPECT_EQ(told(Error(ErrorKind::kBadFile, "a.png: is cut off"), some_args()),
            "a.png: is cut off");
}

TEST(Args, KnowsWhatTheVerbTakesWhetherGivenOrNot) {
  const Args args = some_args();
  for (const char* name : {"INPUT", "size", "column"}) {
    EXPECT_TRUE(args.knows(name)) << name;
    EXPECT_FALSE(args.has(name)) << name;
  }
  EXPECT_FALSE(args.knows("layer"));
  EXPECT_THROW(args.has("layer"), Error);
}

}  // namespace
}  // namespace fovea
