#include "fovea/capture/position_span.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

// [CLS] the mag|ic num|ber is 12 - 20 the end [SEP]
Axis sentence() {
  return support::text_axis(
      {"[CLS]", "the", "mag|ic", "num|ber", "is", "12-20", "the", "end", "[SEP]"});
}

bool refused(std::string_view text, std::string_view says) {
  return fails_with(ErrorKind::kInvalidArgument, says, [&] { span_named(sentence(), text); });
}

TEST(FindSpan, IsEveryPositionThatHoldsAByteOfTheText) {
  EXPECT_EQ(span_named(sentence(), "magic number"), (PositionSpan{2, 6}));
  EXPECT_EQ(span_named(sentence(), "agic n"), (PositionSpan{2, 5}));
  EXPECT_EQ(span_named(sentence(), "ber is"), (PositionSpan{5, 7}));
  EXPECT_EQ(span_named(sentence(), "  end\n"), (PositionSpan{9, 10}));
  EXPECT_EQ(span_named(sentence(), "end").size(), 1);
}

TEST(FindSpan, ReadsBytesOfOtherScripts) {
  const Axis axis = support::text_axis({"naïve", "über|mut", "猫"});
  EXPECT_EQ(span_named(axis, "übermut 猫"), (PositionSpan{1, 4}));
  EXPECT_EQ(span_named(axis, "猫"), (PositionSpan{3, 4}));
}

TEST(FindSpan, TakesNumbersOfPositionsWhereTheTextDoesNotSayThem) {
  EXPECT_EQ(span_named(sentence(), "0-3"), (PositionSpan{0, 4}));
  EXPECT_EQ(span_named(sentence(), "7"), (PositionSpan{7, 8}));
  EXPECT_EQ(span_named(sentence(), "#10"), (PositionSpan{10, 11}));
  EXPECT_EQ(span_named(sentence(), "12-20"), (PositionSpan{7, 8}));  // the text's own
}

TEST(FindSpan, SaysHowOftenAndWhereATextOccurs) {
  EXPECT_TRUE(refused("the", "occurs 2 times"));
  EXPECT_TRUE(refused("the", "1-1, 8-8"));
  Axis axis = support::text_axis({"aaaaaaaaa"});
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "8 times", [&] { span_named(axis, "aa"); }));
}

TEST(FindSpan, RefusesWhatIsNotThere) {
  EXPECT_TRUE(refused("needle", "'needle' is not in the text of 'tokens'"));
  EXPECT_TRUE(refused("needle", "11 positions"));
  EXPECT_TRUE(refused("", "empty"));
  EXPECT_TRUE(refused(" \t", "empty"));
  EXPECT_TRUE(refused("3-11", "0 to 10"));
  EXPECT_TRUE(refused("5-3", "0 to 10"));
  EXPECT_TRUE(refused("#12-20", "0 to 10"));
  EXPECT_TRUE(refused("-3", "not in the text"));
  EXPECT_TRUE(refused("3-", "not in the text"));
  EXPECT_TRUE(refused("#", "not in the text"));
  EXPECT_TRUE(refused("99999999999999999999", "not in the text"));
}

TEST(FindSpan, OfWhatHasNoTextTakesNumbers) {
  Axis patches{.name = "patches"};
  patches.positions.resize(5);
  EXPECT_EQ(span_named(patches, "1-3"), (PositionSpan{1, 4}));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no text; give their numbers as FIRST-LAST",
                         [&] { span_named(patches, "zebra"); }));
}

TEST(FindSpan, SaysThatATextWasCutOff) {
  Axis axis = sentence();
  axis.positions.resize(5);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "none of the 5 positions",
                         [&] { span_named(axis, "end"); }));
  EXPECT_TRUE(fails_cleanly([] { span_named(Axis{.name = "patches"}, "0-0"); }));
}

}  // namespace
}  // namespace fovea
