#include "fovea/base/markup.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Markup, LeavesNothingThatOpensATagOrEndsAnAttribute) {
  EXPECT_EQ(escape_text("a < b & \"c\" > d"), "a &lt; b &amp; \"c\" &gt; d");
  EXPECT_EQ(escape_attribute("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(escape_text("plain \u4e2d"), "plain \u4e2d");
}

}  // namespace
}  // namespace fovea
