#include "fovea/ask/field.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::json_of;

const std::vector<FieldInfo>& sample_fields() {
  static const std::vector<FieldInfo> fields{
      {.name = "head",
       .help = "which head",
       .type = FieldType::kInteger,
       .words = {"mean", "max"},
       .low = 0},
      {.name = "weight",
       .help = "at least",
       .type = FieldType::kReal,
       .low = 0,
       .rules = {{.needs = "norms", .why = "would leave nothing", .above = 1}}},
      {.name = "norms", .help = "by norms", .type = FieldType::kFlag},
      {.name = "kind_of_links",
       .help = "how",
       .type = FieldType::kChoice,
       .words = {"argmax", "mutual"},
       .aliases = {{"both", "mutual"}},
       .rules = {{.excludes = "norms", .why = "looks at weights", .at = "mutual"}}},
      {.name = "token", .help = "which", .or_index = true},
      {.name = "at", .help = "where", .type = FieldType::kPixel, .several = true},
      {.name = "size", .help = "how large", .type = FieldType::kSize},
      {.name = "share",
       .help = "how much",
       .type = FieldType::kReal,
       .low = 0,
       .low_excluded = true,
       .high = 1},
      {.name = "rows", .help = "which", .type = FieldType::kRange},
      {.name = "score", .help = "above", .type = FieldType::kReal, .low = 0, .high = 1}};
  return fields;
}

Json checked(const std::string& text) {
  return checked_fields(sample_fields(), json_of(text), "the sample");
}

TEST(Field, ValuesAreTakenAsJsonAndAsTyped) {
  EXPECT_EQ(checked("{'head': 3, 'weight': 0.5, 'norms': true}").dump(),
            json_of("{'head': 3, 'weight': 0.5, 'norms': true}").dump());
  EXPECT_EQ(checked("{'head': 'mean', 'kind_of_links': 'both', 'token': 5}").dump(),
            json_of("{'head': 'mean', 'kind_of_links': 'mutual', 'token': '#5'}").dump());
  EXPECT_EQ(checked("{'head': 4.0}").dump(), json_of("{'head': 4}").dump());
  EXPECT_EQ(checked("{'norms': false, 'head': null}").dump(), "{}");
  const auto& fields = sample_fields();
  EXPECT_EQ(typed_value(fields[0], {"7"}).dump(), "7");
  EXPECT_EQ(typed_value(fields[0], {"max"}).dump(), "\"max\"");
  EXPECT_EQ(typed_value(fields[3], {"both"}).dump(), "\"mutual\"");
  EXPECT_EQ(typed_value(fields[4], {"5"}).dump(), "\"5\"") << "typed, it may be the token 5";
}

TEST(Field, PixelsAndSizesAreTypedAsPeopleWriteThem) {
  const FieldInfo& at = *find_field(sample_fields(), "at");
  EXPECT_EQ(typed_value(at, {"1,2:3,4", "5,-6"}).dump(), "[[1,2],[3,4],[5,-6]]");
  const FieldInfo& size = *find_field(sample_fields(), "size");
  EXPECT_EQ(typed_value(size, {"480x320"}).dump(), "[480,320]");
  EXPECT_EQ(checked("{'at': [[1, 2]], 'size': [8, 8]}").dump(), R"({"at":[[1,2]],"size":[8,8]})");
  for (const char* wrong : {"1,2:", "x", "1", "1,2,3", ""}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"at"}, "a column and a row, X,Y",
                           [&] { typed_value(at, {wrong}); }))
        << wrong;
  }
  for (const char* wrong : {"big", "0x8", "8x99999", "8x", "-1x5"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"size"}, "WxH", [&] {
      typed_value(size, {wrong});
    })) << wrong;
  }
  for (const char* wrong : {"{'at': [1, 2]}", "{'at': []}", "{'at': [[1]]}", "{'at': 'x'}"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"at"}, "", [&] { checked(wrong); }));
  }
}

TEST(Field, WhatIsTypedForAValueMeansThatValue) {
  const Json values = checked(
      "{'head': 'mean', 'weight': 0.05, 'kind_of_links': 'both', 'token': 5, 'size': [30, 20],"
      " 'rows': [2, 7]}");
  for (const auto& [name, value] : values.as_object("")) {
    const FieldInfo& field = *find_field(sample_fields(), name);
    EXPECT_EQ(typed_value(field, typed_texts(field, value)).dump(), value.dump()) << name;
  }
  const FieldInfo& at = *find_field(sample_fields(), "at");
  EXPECT_EQ(typed_texts(at, json_of("[[1, 2], [3, 4]]")), std::vector<std::string>{"1,2:3,4"});
  EXPECT_EQ(typed_texts(*find_field(sample_fields(), "token"), 5), std::vector<std::string>{"#5"});
  EXPECT_TRUE(typed_texts(*find_field(sample_fields(), "norms"), true).empty());
  FieldInfo words = sample_fields()[4];
  words.several = true;
  EXPECT_EQ(typed_texts(words, json_of("['a', 'b']")), (std::vector<std::string>{"a", "b"}));
}

TEST(Field, RangesAndNumbersWithTwoEndsAreChecked) {
  const FieldInfo& rows = *find_field(sample_fields(), "rows");
  EXPECT_EQ(typed_value(rows, {"100:300"}).dump(), "\"100:300\"");
  EXPECT_EQ(checked("{'rows': [0, 1], 'score': 1}").dump(), R"({"rows":"0:1","score":1.0})");
  for (const char* wrong : {"5", "9:5", "5:5", "-1:3", "1:2:3", "a:b"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"rows"},
                           std::string("'") + wrong + "' is not a range A:B",
                           [&] { typed_value(rows, {wrong}); }))
        << wrong;
  }
  for (const char* open : {"5:", ":9", ":"}) {
    EXPECT_EQ(typed_value(rows, {open}).as_string(""), open);
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"score"}, "a finite number from 0 to 1",
                         [] { checked("{'score': 1.5}"); }));
}

TEST(Field, WhatThereIsNoQuestionWithoutMustBeGiven) {
  const std::vector<FieldInfo> fields{
      {.name = "at", .help = "where", .type = FieldType::kPixel, .required = true},
      {.name = "points", .help = "which", .type = FieldType::kPixel, .several = true, .most = 2}};
  const auto taken = [&](const std::string& text) {
    return checked_fields(fields, json_of(text), "a look").dump();
  };
  EXPECT_EQ(taken("{'at': [[1, 2]]}"), R"({"at":[1,2]})") << "a list of one is that one";
  const auto wrong = [&](const std::string& text, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part, [&] { taken(text); });
  };
  EXPECT_TRUE(wrong("{}", "at", "a look needs it: where"));
  EXPECT_TRUE(wrong("{'at': [[1, 2], [3, 4]]}", "at", "2 are given but one is taken"));
  EXPECT_TRUE(wrong("{'at': [1, 2], 'points': [[1, 1], [2, 2], [3, 3]]}", "points",
                    "3 are given but 2 at most are taken"));
  const std::string schema = schema_of(fields).dump();
  EXPECT_NE(schema.find(R"("required":["at"])"), std::string::npos) << schema;
  EXPECT_NE(schema.find(R"("maxItems":2)"), std::string::npos) << schema;
}

TEST(Field, WrongValuesAreErrorsAboutTheField) {
  const auto wrong = [](const std::string& text, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part, [&] { checked(text); });
  };
  EXPECT_TRUE(wrong("{'head': -1}", "head", "-1 is not a whole number from 0, or mean, max"));
  EXPECT_TRUE(wrong("{'head': 1.5}", "head", "1.5 is not a whole number"));
  EXPECT_TRUE(wrong("{'head': 1e300}", "head", "is not a whole number"));
  EXPECT_TRUE(wrong("{'head': 'meen'}", "head", "did you mean 'mean'?"));
  EXPECT_TRUE(wrong("{'head': [1]}", "head", "[1] is not"));
  EXPECT_TRUE(wrong("{'norms': 1}", "norms", "1 is not true or false"));
  EXPECT_TRUE(wrong("{'token': ''}", "token", "empty"));
  EXPECT_TRUE(wrong("{'heat': 1}", "heat", "the sample does not take it (did you mean 'head'?)"));
  EXPECT_TRUE(wrong("{'weight': 1.5}", "weight", "would leave nothing; give `norms` too"));
  EXPECT_TRUE(wrong("{'norms': true, 'kind_of_links': 'both'}", "kind_of_links",
                    "looks at weights, so it does not go with `norms`"));
  EXPECT_TRUE(wrong("{'share': 0}", "share", "is not a finite number above 0 and up to 1"));
  EXPECT_TRUE(wrong("{'share': 1.5}", "share", "1.5 is not a finite number above 0"));
  EXPECT_NO_THROW(checked("{'share': 1}"));
  EXPECT_NO_THROW(checked("{'weight': 1.5, 'norms': true}"));
  EXPECT_NO_THROW(checked("{'kind_of_links': 'argmax', 'norms': true}"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "the sample is an object",
                         [] { checked_fields(sample_fields(), Json(3), "the sample"); }));
}

TEST(Field, ARuleMayNameTheWordsThatGoTogether) {
  const std::vector<FieldInfo> fields{
      {.name = "way", .help = "how", .type = FieldType::kChoice, .words = {"near", "far", "up"}},
      {.name = "steps",
       .help = "how many",
       .type = FieldType::kInteger,
       .rules = {{.beside = "way", .values = {"near", "far"}, .why = "is of walking"}}}};
  const auto taken = [&](const std::string& text) {
    return checked_fields(fields, json_of(text), "a walk");
  };
  EXPECT_NO_THROW(taken("{'steps': 3}")) << "what is left out may suit";
  EXPECT_NO_THROW(taken("{'steps': 3, 'way': 'far'}"));
  EXPECT_NO_THROW(taken("{'way': 'up'}"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"steps"},
                         "it is of walking but `way` is up; leave one of them out",
                         [&] { taken("{'steps': 3, 'way': 'up'}"); }));
  const std::string schema = schema_of(fields).dump();
  EXPECT_NE(schema.find(R"("then":{"properties":{"way":{"enum":["near","far"]}}})"),
            std::string::npos)
      << schema;
}

TEST(Field, TheSchemaSaysTheSame) {
  const std::string schema = schema_of(sample_fields()).dump();
  EXPECT_NE(schema.find(R"("anyOf":[{"type":"integer","minimum":0},{"enum":["mean","max"]}])"),
            std::string::npos)
      << schema;
  EXPECT_NE(schema.find(R"("enum":["argmax","mutual","both"])"), std::string::npos) << schema;
  EXPECT_NE(schema.find(R"("exclusiveMinimum":1.0)"), std::string::npos) << schema;
  EXPECT_NE(schema.find(R"("exclusiveMinimum":0.0,"maximum":1.0)"), std::string::npos) << schema;
  EXPECT_NE(schema.find(R"("at":{"type":"array","items":{"type":"array")"), std::string::npos)
      << schema;
  EXPECT_NE(schema.find(R"("additionalProperties":false)"), std::string::npos) << schema;
}

}  // namespace
}  // namespace fovea
