#include "fovea/base/markup.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(EscapeMarkup, LeavesNothingThatOpensATagOrEndsAnAttribute) {
  EXPECT_EQ(escape_markup("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(escape_markup("plain \u4e2d"), "plain \u4e2d");
}

}  // namespace
}  // namespace fovea
