#include "fovea/explain/alignment/symmetrize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "fovea/explain/alignment/alignment_score.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kSide = 8;

// Plain tables of yes and no, walked cell by cell as the programs describe it.
struct Grid {
  bool cell[kSide][kSide] = {};

  static Grid of(const Alignment& links) {
    Grid grid;
    for (const Link& link : links) grid.cell[link.source][link.target] = true;
    return grid;
  }
  Alignment links() const {
    Alignment result;
    for (int64_t s = 0; s < kSide; ++s) {
      for (int64_t t = 0; t < kSide; ++t) {
        if (cell[s][t]) result.push_back({s, t});
      }
    }
    return result;
  }
  bool source_free(int64_t s) const {
    for (int64_t t = 0; t < kSide; ++t) {
      if (cell[s][t]) return false;
    }
    return true;
  }
  bool target_free(int64_t t) const {
    for (int64_t s = 0; s < kSide; ++s) {
      if (cell[s][t]) return false;
    }
    return true;
  }
};

// `by_target`: the outer loop runs over target words, and steps are (target, source).
struct Reference {
  bool by_target;
  bool grow_needs_both;
  bool final_needs_both;
  std::vector<std::pair<int, int>> steps;

  bool may_add(const Grid& grid, int64_t s, int64_t t, bool both) const {
    const bool one = grid.source_free(s), other = grid.target_free(t);
    return both ? one && other : one || other;
  }
  Alignment run(const Alignment& forward, const Alignment& backward, bool finish) const {
    const Grid f = Grid::of(forward), b = Grid::of(backward);
    Grid grid;
    for (int64_t s = 0; s < kSide; ++s) {
      for (int64_t t = 0; t < kSide; ++t) grid.cell[s][t] = f.cell[s][t] && b.cell[s][t];
    }
    const auto walk = [&](auto&& visit) {
      for (int64_t outer = 0; outer < kSide; ++outer) {
        for (int64_t inner = 0; inner < kSide; ++inner) {
          by_target ? visit(inner, outer) : visit(outer, inner);
        }
      }
    };
    bool again = true;
    while (again) {
      again = false;
      walk([&](int64_t s, int64_t t) {
        if (!grid.cell[s][t]) return;
        for (const auto& [outer, inner] : steps) {
          const int64_t s2 = s + (by_target ? inner : outer);
          const int64_t t2 = t + (by_target ? outer : inner);
          if (s2 < 0 || t2 < 0 || s2 >= kSide || t2 >= kSide) continue;
          if (!f.cell[s2][t2] && !b.cell[s2][t2]) continue;
          if (!may_add(grid, s2, t2, grow_needs_both)) continue;
          grid.cell[s2][t2] = true;
          again = true;
        }
      });
    }
    for (const Grid* direction : {&f, &b}) {
      if (!finish) break;
      walk([&](int64_t s, int64_t t) {
        if (direction->cell[s][t] && may_add(grid, s, t, final_needs_both)) grid.cell[s][t] = true;
      });
    }
    return grid.links();
  }
};

const std::vector<std::pair<int, int>> kLiltSteps = {{-1, 0}, {0, -1},  {1, 0},  {0, 1},
                                                     {-1, 1}, {-1, -1}, {1, -1}, {1, 1}};
const std::vector<std::pair<int, int>> kMosesSteps = {{-1, 0},  {0, -1}, {1, 0},  {0, 1},
                                                      {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

TEST(Symmetrize, EqualsAPlainWalkOverTheMatrix) {
  std::mt19937 random(1);
  const Reference lilt{false, true, true, kLiltSteps};
  const Reference moses{true, false, false, kMosesSteps};
  const Reference moses_and{true, false, true, kMosesSteps};
  for (int round = 0; round < 3000; ++round) {
    const auto some = [&] {
      std::vector<Link> links;
      for (uint64_t i = 0, count = random() % 14; i < count; ++i) {
        links.push_back({int64_t(random() % kSide), int64_t(random() % kSide)});
      }
      return sorted_links(links);
    };
    const Alignment forward = some(), backward = some();
    SCOPED_TRACE(to_moses(forward) + " | " + to_moses(backward));
    using enum Symmetrization;
    ASSERT_EQ(symmetrize(forward, backward, kLiltGrowDiag), lilt.run(forward, backward, false));
    ASSERT_EQ(symmetrize(forward, backward, kLiltGrowDiagFinal), lilt.run(forward, backward, true));
    ASSERT_EQ(symmetrize(forward, backward, kMosesGrowDiag), moses.run(forward, backward, false));
    ASSERT_EQ(symmetrize(forward, backward, kMosesGrowDiagFinal),
              moses.run(forward, backward, true));
    ASSERT_EQ(symmetrize(forward, backward, kMosesGrowDiagFinalAnd),
              moses_and.run(forward, backward, true));
  }
}

TEST(Symmetrize, IntersectionAndUnionAreThoseOfSets) {
  const Alignment forward{{0, 0}, {1, 1}}, backward{{1, 1}, {2, 1}};
  EXPECT_THAT(symmetrize(forward, backward, Symmetrization::kIntersection),
              ElementsAre(Link{1, 1}));
  EXPECT_THAT(symmetrize(forward, backward, Symmetrization::kUnion),
              ElementsAre(Link{0, 0}, Link{1, 1}, Link{2, 1}));
}

TEST(Symmetrize, TheTwoVariantsDifferWhereOneWordIsCovered) {
  // 0-0 is agreed on; 0-1 lies beside it and shares its source word.
  const Alignment forward{{0, 0}, {0, 1}}, backward{{0, 0}};
  EXPECT_THAT(symmetrize(forward, backward, Symmetrization::kLiltGrowDiag),
              ElementsAre(Link{0, 0}));
  EXPECT_THAT(symmetrize(forward, backward, Symmetrization::kMosesGrowDiag),
              ElementsAre(Link{0, 0}, Link{0, 1}));
}

TEST(Symmetrize, GrowsAlongADiagonalButNotAcrossAGap) {
  const Alignment forward{{0, 0}, {1, 1}, {2, 2}, {4, 4}}, backward{{0, 0}};
  const Alignment grown{{0, 0}, {1, 1}, {2, 2}};
  EXPECT_EQ(symmetrize(forward, backward, Symmetrization::kLiltGrowDiag), grown);
  EXPECT_EQ(symmetrize(forward, backward, Symmetrization::kMosesGrowDiag), grown);
  EXPECT_EQ(symmetrize(forward, backward, Symmetrization::kLiltGrowDiagFinal), forward);
  EXPECT_EQ(symmetrize(forward, backward, Symmetrization::kMosesGrowDiagFinalAnd), forward);
}

TEST(Symmetrize, FinalTakesOneFreeWordAndFinalAndWantsTwo) {
  const Alignment forward{{0, 0}, {0, 5}}, backward{{0, 0}};
  EXPECT_EQ(symmetrize(forward, backward, Symmetrization::kMosesGrowDiagFinal), forward);
  EXPECT_EQ(symmetrize(forward, backward, Symmetrization::kMosesGrowDiagFinalAnd), backward);
}

TEST(Symmetrize, NothingStaysNothing) {
  for (const std::string& name : kSymmetrizations.names()) {
    EXPECT_TRUE(symmetrize({}, {}, kSymmetrizations.named(name)).empty()) << name;
  }
}

TEST(Symmetrize, NamesComeBackAndUnknownOnesAreRefused) {
  for (const std::string& name : kSymmetrizations.names()) {
    EXPECT_EQ(to_string(kSymmetrizations.named(name)), name);
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "moses-grow-diag-final-and",
                         [] { kSymmetrizations.named("grow-diag"); }));
}

// lilt's own files of the two directions and of what its program made from them; Moses' numbers are
// those of its rule on the same files.
class PublishedSymmetrization : public ::testing::Test {
 protected:
  static std::filesystem::path data(const std::string& name) {
    return test_data("alignment") / name;
  }
  std::vector<Alignment> combine(const std::string& aligner, Symmetrization how) const {
    const auto forward = read_alignments(data("enfr." + aligner + ".talp"));
    const auto backward =
        read_alignments(data("enfr." + aligner + ".reverse.talp"), {.reversed = true});
    std::vector<Alignment> combined;
    for (size_t i = 0; i < forward.size(); ++i) {
      combined.push_back(symmetrize(forward[i], backward[i], how));
    }
    return combined;
  }
  std::string aer(const std::string& aligner, Symmetrization how) const {
    const auto gold = read_gold_alignments(data("enfr.gold"));
    return fmt::format("{:.1f}", 100 * score_alignments(gold, combine(aligner, how)).aer());
  }
};

TEST_F(PublishedSymmetrization, EveryLineOfLiltsFilesComesOut) {
  for (const std::string aligner : {"giza", "fastalign"}) {
    const auto published = read_alignments(data("enfr." + aligner + ".grow-diagonal.talp"));
    EXPECT_EQ(combine(aligner, Symmetrization::kLiltGrowDiag), published) << aligner;
  }
}

TEST_F(PublishedSymmetrization, ErrorRatesAreThePublishedOnes) {
  using enum Symmetrization;
  EXPECT_EQ(aer("giza", kIntersection), "7.6");
  EXPECT_EQ(aer("giza", kUnion), "9.9");
  EXPECT_EQ(aer("giza", kLiltGrowDiag), "5.9");
  EXPECT_EQ(aer("giza", kLiltGrowDiagFinal), "6.2");
  EXPECT_EQ(aer("giza", kMosesGrowDiag), "6.3");
  EXPECT_EQ(aer("fastalign", kIntersection), "11.2");
  EXPECT_EQ(aer("fastalign", kUnion), "19.5");
  EXPECT_EQ(aer("fastalign", kLiltGrowDiag), "10.5");
  EXPECT_EQ(aer("fastalign", kLiltGrowDiagFinal), "12.1");
  EXPECT_EQ(aer("fastalign", kMosesGrowDiag), "14.6");
}

}  // namespace
}  // namespace fovea
