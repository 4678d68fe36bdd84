#include "fovea/capture/site.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(SiteId, NamesGoBothWays) {
  for (const char* name : {"self.0", "encoder_self.11", "decoder_self.2", "cross.5",
                           "vision.self.3", "text.self.1", "pool.0", "panoptic.0"}) {
    EXPECT_EQ(to_string(parse_site(name)), name);
  }
  for (const char* name : {"", "self", "self.", "self.-1", "self.x", "self.1x", "nowhere.1", ".3",
                           "self.99999999999999999999"}) {
    EXPECT_THROW(parse_site(name), Error) << name;
  }
}

}  // namespace
}  // namespace fovea
