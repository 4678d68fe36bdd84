#include "fovea/atlas/head_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "support/records.h"
#include "support/runs.h"

namespace fovea {
namespace {

using Kind = HeadChoice::Kind;
using testing::HasSubstr;

template <typename Call>
std::string head_refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(ParseHead, TakesANumberOrAName) {
  EXPECT_EQ(parse_head("3"), (HeadChoice{Kind::kOne, 3}));
  EXPECT_EQ(parse_head("mean").kind, Kind::kMean);
  EXPECT_EQ(parse_head("max").kind, Kind::kMax);
  EXPECT_EQ(parse_head("min").kind, Kind::kMin);
  EXPECT_EQ(parse_head("all").kind, Kind::kAll);
  for (const char* text : {"", "-1", "3x", "average", "99999999999999999999"}) {
    EXPECT_THAT(head_refusal([&] { parse_head(text); }),
                HasSubstr("number from 0, mean, max, min or all"))
        << text;
  }
}

TEST(SingleMap, IsTheHeadOrTheMeanOfAll) {
  const AttentionRecord record = support::record_of(support::plain_case(5, 4, false, /*seed=*/1));
  EXPECT_EQ(single_map({Kind::kOne, 0}, record), (HeadChoice{Kind::kOne, 0}));
  EXPECT_EQ(single_map({}, record).kind, Kind::kMean);
  EXPECT_EQ(single_map({Kind::kMax, 0}, record).kind, Kind::kMax);
  for (const int64_t head : {-1, 1}) {
    EXPECT_THAT(head_refusal([&] {
                  single_map({Kind::kOne, head}, record);
                }),
                HasSubstr("self.0 has 1 head, 0 to 0"));
  }
}

TEST(SingleMap, RefusesSeveralHeads) {
  const AttentionRecord record = support::record_of(support::plain_case(5, 4, false, /*seed=*/1));
  EXPECT_THAT(head_refusal([&] {
                single_map({.kind = Kind::kSome, .some = {0, 3}}, record);
              }),
              HasSubstr("heads 0, 3 are 2 maps but one is shown here; give one of them, or mean"));
}

TEST(MapsMeant, AreThoseOfTheHeadsInTheirOrder) {
  const fovea::Run run = support::text_run({"a", "b", "c"}, 4);
  const AttentionRecord& record = *run.records.front();
  const auto heads = [&](const HeadChoice& choice) {
    std::vector<int64_t> found;
    for (const HeadChoice& one : maps_meant(choice, record)) found.push_back(one.head);
    return found;
  };
  EXPECT_EQ(heads({}), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(heads({.kind = Kind::kSome, .some = {3, 1}}), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(heads({Kind::kOne, 2}), (std::vector<int64_t>{2}));
  EXPECT_EQ(maps_meant({Kind::kMin, 0}, record).front().kind, Kind::kMin);
  EXPECT_THAT(head_refusal([&] {
                maps_meant({.kind = Kind::kSome, .some = {3, 4}}, record);
              }),
              HasSubstr("self.0 has 4 heads, 0 to 3"));
}

}  // namespace
}  // namespace fovea
