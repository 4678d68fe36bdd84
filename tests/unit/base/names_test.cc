#include "fovea/base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

namespace fovea {
namespace {

enum class Season { kSummer, kWinter };
constexpr NameTable<Season, 2> kSeasons{"season",
                                        {{Season::kSummer, "summer"}, {Season::kWinter, "winter"}}};

TEST(NameTable, NamesComeBackAsTheirValues) {
  EXPECT_THAT(kSeasons.names(), testing::ElementsAre("summer", "winter"));
  for (const std::string& name : kSeasons.names()) {
    EXPECT_EQ(kSeasons.name_of(kSeasons.named(name)), name);
  }
}

TEST(NameTable, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                         "there is no season 'autumn'; there are summer, winter",
                         [] { kSeasons.named("autumn"); }));
}

}  // namespace
}  // namespace fovea
