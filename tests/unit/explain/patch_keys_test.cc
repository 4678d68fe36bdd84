#include "fovea/explain/pictures/patch_keys.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "unit/explain/picture_cases.h"

namespace fovea {
namespace {

TEST(PatchKeys, AreAllHeadsSideBySideWithoutSpecials) {
  const PictureAxis axis{{2, 3}, 2};
  const auto c = support::picture_case(4, axis, 3, 5);
  const auto record = support::shared_record_of(c);
  const Tensor keys = patch_keys(*record, axis);
  ASSERT_EQ(keys.shape(), (Shape{6, 15}));
  for (int64_t head = 0; head < 3; ++head) {
    for (int64_t patch = 0; patch < 6; ++patch) {
      for (int64_t d = 0; d < 5; ++d) {
        ASSERT_EQ(keys.matrix<float>()(patch, head * 5 + d),
                  record->keys.matrix<float>(head)(2 + patch, d));
      }
    }
  }
  EXPECT_TRUE(fails_cleanly([&] { patch_keys(*record, PictureAxis{{3, 3}, 2}); }));
}

}  // namespace
}  // namespace fovea
