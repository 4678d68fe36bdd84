#include "fovea/explain/alignment/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Alignment, IsSortedAndHoldsEachLinkOnce) {
  EXPECT_THAT(parse_alignment("3-1 0-2 3-1 0-0", {}, "here"),
              ElementsAre(Link{0, 0}, Link{0, 2}, Link{3, 1}));
  EXPECT_THAT(transposed({{0, 2}, {3, 1}}), ElementsAre(Link{1, 3}, Link{2, 0}));
}

TEST(Alignment, MosesFormComesBackTheSame) {
  const Alignment links{{0, 0}, {1, 2}, {12, 7}};
  EXPECT_EQ(to_moses(links), "0-0 1-2 12-7");
  EXPECT_EQ(parse_alignment(to_moses(links), {}, "here"), links);
  EXPECT_EQ(to_moses({}), "");
}

TEST(Alignment, BaseAndDirectionAreThoseOfTheFile) {
  EXPECT_THAT(parse_alignment("1-3", {.base = 1}, "here"), ElementsAre(Link{0, 2}));
  EXPECT_THAT(parse_alignment("1-3", {.base = 1, .reversed = true}, "here"),
              ElementsAre(Link{2, 0}));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "0 or 1",
                         [] { parse_alignment("", {.base = 2}, "here"); }));
}

TEST(Alignment, ASureLinkOfGoldIsAlsoPossible) {
  const GoldAlignment gold = parse_gold_alignment("2p1 1-1 2-2 2p2", {.base = 1}, "here");
  EXPECT_THAT(gold.sure, ElementsAre(Link{0, 0}, Link{1, 1}));
  EXPECT_THAT(gold.possible, ElementsAre(Link{0, 0}, Link{1, 0}, Link{1, 1}));
}

TEST(Alignment, EveryLineOfAFileIsASentence) {
  const TempFolder folder;
  write_text(folder / "a", "0-0\r\n\n \t\n1-1\t2-2 ");
  EXPECT_THAT(read_alignments(folder / "a"),
              ElementsAre(ElementsAre(Link{0, 0}), IsEmpty(), IsEmpty(),
                          ElementsAre(Link{1, 1}, Link{2, 2})));
  write_text(folder / "b", "0-0\n");
  EXPECT_EQ(read_alignments(folder / "b").size(), 1u);
  write_text(folder / "c", "");
  EXPECT_THAT(read_alignments(folder / "c"), IsEmpty());
}

TEST(Alignment, WhatIsNoLinkIsRefusedWithFileAndLine) {
  const TempFolder folder;
  for (const std::string_view junk :
       {"1", "1-", "-1", "1-2-3", "a-b", "1-2:0.5", "1--2", "1-2,3-4", "0x1-2", "1 - 2", "1.0-2",
        "+1-2", "1–2", "1P2", "\xff-\xfe"}) {
    SCOPED_TRACE(junk);
    write_text(folder / "a", fmt::format("0-0\n{}\n", junk));
    const auto read = [&] { read_alignments(folder / "a"); };
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "a, line 2", read));
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "i-j", read));
  }
}

TEST(Alignment, APossibleLinkIsRefusedOutsideGold) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "possible link",
                         [] { parse_alignment("0-0 1p1", {}, "here"); }));
}

TEST(Alignment, WordsThatCannotBeAreRefused) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "base is 0",
                         [] { parse_gold_alignment("0-1", {.base = 1}, "here"); }));
  for (const std::string_view huge : {"1000001-0", "0-99999999999999999999999", "4294967296-1"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no sentence is that long",
                           [&] { parse_alignment(huge, {}, "here"); }));
  }
  const std::string endless(100000, '7');
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "…", [&] { parse_alignment(endless, {}, "here"); }));
}

}  // namespace
}  // namespace fovea
