#include "fovea/checkpoint/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Config sample_config() {
  return Config(Json::parse(R"({"model_type": "bert", "hidden_size": 12, "eps": 1e-5, "tied": true,
      "nothing": null, "negative": -5, "float_size": 4.0, "eos": [1, 2], "text": "12",
      "archs": ["A", "B"], "id2label": {"0": "no", "1": "yes"},
      "rope_scaling": {"factor": 8.0, "inner": {"x": "y"}}})",
                            "config.json"),
                "config.json");
}

TEST(Config, GivesValuesOfEachType) {
  const Config config = sample_config();
  EXPECT_EQ(config.model_type(), "bert");
  EXPECT_EQ(config.get_int("hidden_size"), 12);
  EXPECT_EQ(config.get_size("float_size"), 4);
  EXPECT_EQ(config.get_double("eps"), 1e-5);
  EXPECT_EQ(config.get_double("hidden_size"), 12.0);
  EXPECT_TRUE(config.get_bool("tied"));
  EXPECT_THAT(config.get_ints("eos"), ElementsAre(1, 2));
  EXPECT_THAT(config.get_strings("archs"), ElementsAre("A", "B"));
  EXPECT_THAT(config.get_string_map("id2label"), ElementsAre(Pair("0", "no"), Pair("1", "yes")));
}

TEST(Config, MissingAndNullMembersTakeTheDefault) {
  const Config config = sample_config();
  EXPECT_FALSE(config.has("nothing"));
  EXPECT_EQ(config.get_int("nothing", 7), 7);
  EXPECT_EQ(config.get_size("none", 7), 7);
  EXPECT_EQ(config.get_double("none", 0.5), 0.5);
  EXPECT_TRUE(config.get_bool("none", true));
  EXPECT_EQ(config.get_string("none", "gelu"), "gelu");
  EXPECT_EQ(config.get_string("model_type", "gelu"), "bert");
  EXPECT_THAT(config.get_ints("none"), IsEmpty());
  EXPECT_FALSE(config.find_section("none"));
}

TEST(Config, ErrorsNameTheFileTheMemberAndBothTypes) {
  const Config config = sample_config();
  const auto bad = [](std::string_view part, auto&& work) {
    return fails_with(ErrorKind::kBadFile, part, work);
  };
  EXPECT_TRUE(bad("config.json: 'vocab_size' should be a whole number but is missing",
                  [&] { config.get_int("vocab_size"); }));
  EXPECT_TRUE(bad("config.json: 'text' should be", [&] { config.get_int("text"); }));
  EXPECT_TRUE(bad("config.json: 'text' should be", [&] { config.get_int("text", 3); }));
  EXPECT_TRUE(bad("config.json: 'negative' should be from 1 to 2147483647 but is -5",
                  [&] { config.get_size("negative"); }));
  EXPECT_TRUE(bad("'rope_scaling.factor' should be",
                  [&] { config.section("rope_scaling").get_string("factor"); }));
  EXPECT_TRUE(bad("'text' should be", [&] { config.section("text"); }));
  EXPECT_TRUE(bad("'archs'", [&] { config.get_ints("archs"); }));
  EXPECT_TRUE(bad("an array", [&] { Config(Json::array(), "config.json"); }));
}

TEST(Config, SectionsNest) {
  const Config inner = sample_config().section("rope_scaling").section("inner");
  EXPECT_EQ(inner.get_string("x"), "y");
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "'rope_scaling.inner.z'", [&] { inner.get_string("z"); }));
}

TEST(Config, OpensAFileAndSaysItsPath) {
  const TempFolder folder;
  write_text(folder / "config.json", R"({"model_type": "gpt2"})");
  EXPECT_EQ(Config::open(folder / "config.json").model_type(), "gpt2");
  write_text(folder / "config.json", "{\"model_type\": ");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, (folder / "config.json").string(),
                         [&] { Config::open(folder / "config.json"); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kNotFound, "none.json", [&] { Config::open(folder / "none.json"); }));
}

}  // namespace
}  // namespace fovea
