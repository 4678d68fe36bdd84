#include "fovea/base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace fovea {
namespace {

const std::vector<std::string> kAnimals{"cat", "horse", "zebra", "zebu"};

TEST(Suggest, FindsTheWordNearestToAMistypedOne) {
  EXPECT_EQ(closest("hrose", kAnimals), "horse");
  EXPECT_EQ(closest("Cat", kAnimals), "cat");
  EXPECT_EQ(did_you_mean("zebr", kAnimals), " (did you mean 'zebra'?)");
}

TEST(Suggest, FindsAWordThatIsNotFinished) {
  const std::vector<std::string> long_names{"integrated-gradients", "raw"};
  EXPECT_EQ(closest("int", long_names), "integrated-gradients");
  EXPECT_EQ(closest("Zeb", kAnimals), "zebra");
}

TEST(Suggest, HasNothingToSayOfOtherWords) {
  EXPECT_EQ(closest("magic", kAnimals), std::nullopt);
  EXPECT_EQ(closest("in", kAnimals), std::nullopt);
  EXPECT_EQ(did_you_mean("dog", {}), "");
  EXPECT_EQ(closest(std::string(1000, 'z'), kAnimals), std::nullopt);
}

}  // namespace
}  // namespace fovea
