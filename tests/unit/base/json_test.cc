#include "fovea/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.h"

namespace fovea {
namespace {

Json parse(std::string_view text) {
  return Json::parse(text, "test.json");
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json json = parse(R"({"n": null, "b": true, "i": -3, "d": 2.5, "s": "x", "a": [1, []]})");
  EXPECT_TRUE(json.at("n", "w").is_null());
  EXPECT_TRUE(json.at("b", "w").as_bool("w"));
  EXPECT_EQ(json.at("i", "w").as_int("w"), -3);
  EXPECT_EQ(json.at("d", "w").as_double("w"), 2.5);
  EXPECT_EQ(json.at("s", "w").as_string("w"), "x");
  ASSERT_EQ(json.at("a", "w").as_array("w").size(), 2U);
  EXPECT_TRUE(json.at("a", "w").as_array("w")[1].is_array());
  EXPECT_EQ(json.find("missing"), nullptr);
}

TEST(Json, ObjectsKeepTheOrderOfTheirMembers) {
  EXPECT_EQ(parse(R"({"z":1,"a":2,"m":3})").dump(), R"({"z":1,"a":2,"m":3})");
}

TEST(Json, WhatItWritesReadsBackTheSame) {
  for (const std::string text :
       {"null", "true", "0", "-9223372036854775808", "9223372036854775807", "1.0", "0.1", "1e+300",
        "5e-324", R"("")", R"("\"\\\n\u0001é漢🙂")", "[]", "{}", "[[],{},[null]]",
        R"({"a":{"b":[1,2.5,"c"]},"":0})"}) {
    SCOPED_TRACE(text);
    const std::string once = parse(text).dump();
    EXPECT_EQ(once, text);
    EXPECT_EQ(parse(parse(text).dump(2)).dump(), once);
  }
}

TEST(Json, IndentedFormHasOneMemberPerLine) {
  EXPECT_EQ(parse(R"({"a":[1,2],"b":{},"c":[]})").dump(2),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}");
}

TEST(Json, DoublesReadBackExactly) {
  for (const double value : {1.0 / 3, 6.02214076e23, -1e-310, 123456789.123456789, 4.0}) {
    const Json read = parse(Json(value).dump());
    EXPECT_EQ(read.as_double("w"), value);
    EXPECT_FALSE(read.is_int());
  }
}

TEST(Json, NanAndInfinityAreWrittenAsNull) {
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, InvalidUtf8IsReplacedWhenWritten) {
  EXPECT_EQ(Json("a\xff").dump(), "\"a\uFFFD\"");
  Json object = Json::object();
  object.set("\xff", 1);
  EXPECT_EQ(object.dump(), "{\"\uFFFD\":1}");
}

TEST(Json, RefusesWhatIsNotJsonAndSaysWhere) {
  for (const std::string_view text :
       {"",       " ",        "{",           "[1,",     "[1,]",      "{\"a\":}", "{a:1}",
        "nul",    "NaN",      "-Infinity",   "01",      "1 2",       "'a'",      "\"a",
        "\"\n\"", "\"\xff\"", "\"\\ud800\"", "[1e999]", "{\"a\" 1}", "\x01"}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "test.json: ", [&] { parse(text); }));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "line 2, column 3", [] { parse("[1,\n  x]"); }));
}

TEST(Json, AZeroByteDoesNotHideWhatFollows) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "byte 2 is zero",
                         [] { parse(std::string_view("{}\0garbage", 10)); }));
}

TEST(Json, AMessageStaysShortWhenTheBadTokenIsLong) {
  const std::string text = "\"" + std::string(100'000, 'x') + "\n\"";
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "not valid JSON", [&] { parse(text); }));
}

TEST(Json, RefusesDuplicateKeysInSmallAndLargeObjects) {
  for (const int members : {2, 3, 16, 17, 18, 1000}) {
    SCOPED_TRACE(members);
    std::string text = "{\"k0\": 0";
    for (int i = 1; i < members - 1; ++i) text += fmt::format(",\"k{}\": {}", i, i);
    EXPECT_NO_THROW(parse(text + "}"));
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "the key 'k0' appears twice",
                           [&] { parse(text + ",\"k0\": 1}"); }));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'a\\nb' appears twice",
                         [] { parse(R"({"a\nb": 1, "a\nb": 2})"); }));
}

TEST(Json, ReadsNestingUpToItsLimitAndRefusesDeeper) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(parse(nested(256)).dump(), nested(256));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "nested deeper than 256", [&] { parse(nested(257)); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "nested deeper than 256",
                         [&] { parse(std::string(1'000'000, '[')); }));
}

TEST(Json, FindsMembersInLargeObjectsHoweverTheyWereMade) {
  Json built = Json::object();
  for (int i = 0; i < 500; ++i) built.set(fmt::format("k{}", i * 7919 % 500), i);
  built.set("k3", "replaced");
  Json parsed = parse(built.dump());
  parsed.set("later", true);
  parsed.set("k4", "changed");
  EXPECT_EQ(built.as_object("w").size(), 500U);
  EXPECT_EQ(parsed.as_object("w").size(), 501U);
  EXPECT_EQ(parsed.at("k3", "w").as_string("w"), "replaced");
  EXPECT_EQ(parsed.at("k4", "w").as_string("w"), "changed");
  EXPECT_TRUE(parsed.at("later", "w").as_bool("w"));
  for (int i = 5; i < 500; ++i) {
    const std::string key = fmt::format("k{}", i);
    ASSERT_NE(parsed.find(key), nullptr) << key;
    EXPECT_EQ(parsed.find(key)->as_int("w"), built.find(key)->as_int("w")) << key;
  }
  EXPECT_EQ(parsed.find("k500"), nullptr);
}

TEST(Json, WrongTypesAreToldWithTheirPlace) {
  const auto refused = [](std::string_view part, auto&& work) {
    return fails_with(ErrorKind::kBadFile, part, work);
  };
  const Json text("x");
  EXPECT_TRUE(refused("a.b should be true or false but is a string", [&] { text.as_bool("a.b"); }));
  EXPECT_TRUE(refused("a should be a whole number but is a string", [&] { text.as_int("a"); }));
  EXPECT_TRUE(refused("a should be a number but is a string", [&] { text.as_double("a"); }));
  EXPECT_TRUE(refused("a should be an array but is a string", [&] { text.as_array("a"); }));
  EXPECT_TRUE(refused("a should be an object but is a string", [&] { text.as_object("a"); }));
  EXPECT_TRUE(refused("should be a string but is null", [] { Json().as_string("a"); }));
  EXPECT_TRUE(refused("should be an object", [&] { text.at("b", "a"); }));
  EXPECT_TRUE(refused("a: has no 'b'", [] { Json::object().at("b", "a"); }));
}

TEST(Json, WholeNumbersMayBeWrittenAsDoublesButNotFractions) {
  EXPECT_EQ(parse("4.0").as_int("w"), 4);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "whole", [] { parse("4.5").as_int("w"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "whole", [] { parse("1e30").as_int("w"); }));
}

TEST(Json, NumbersBeyondInt64BecomeDoubles) {
  EXPECT_FALSE(parse("18446744073709551615").is_int());
  EXPECT_EQ(parse("18446744073709551615").as_double("w"), 18446744073709551615.0);
  EXPECT_FALSE(Json(std::numeric_limits<size_t>::max()).is_int());
  EXPECT_TRUE(Json(size_t{7}).is_int());
}

TEST(Json, ArraysAreMadeFromRanges) {
  EXPECT_EQ(Json::array_of(std::vector<double>{1.5, 2}).dump(), "[1.5,2.0]");
  Json array = Json::array();
  array.push_back(1);
  array.push_back("two");
  EXPECT_EQ(array.dump(), R"([1,"two"])");
}

}  // namespace
}  // namespace fovea
