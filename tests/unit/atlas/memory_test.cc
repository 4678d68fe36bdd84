// Memory grows with N, not with N^2: a 16k x 16k matrix of floats would be 1 GiB.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "fovea/atlas/pyramid.h"
#include "support/records.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

TEST(Memory, SixteenThousandTokensNeedNoMatrix) {
  const int64_t before = peak_bytes();
  const int64_t tokens = support::kSanitized ? 4096 : 16384;
  const AttentionMap map(support::shared_record_of(support::plain_case(tokens, 64, true, 1)), 0);
  const auto sums = map.column_sums();
  const auto entropy = map.entropy();
  const Pyramid pyramid(map, std::make_shared<TileCache>(size_t{32} << 20));
  const auto top = pyramid.tile(pyramid.levels() - 1, 0, 0);
  EXPECT_EQ(top->max.shape(), (Shape{256, 256}));
  EXPECT_EQ(sums.size(), entropy.size());
  // Q, K, V and their packed copies are 4 MiB each; a quarter of the matrix would already fail.
  EXPECT_LT(peak_bytes() - before, int64_t{256} << 20);
}

}  // namespace
}  // namespace fovea
