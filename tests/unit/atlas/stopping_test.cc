#include <gtest/gtest.h>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/merged_map.h"
#include "support/stopping.h"

namespace fovea {
namespace {

using support::seconds_to_stop;

constexpr int64_t kTokens = 60'000;

// One head of a long text; every whole map below would take seconds.
std::shared_ptr<const AttentionRecord> long_record() {
  AttentionRecord record;
  record.queries = Tensor(Shape{1, kTokens, 64});
  record.keys = Tensor(Shape{1, kTokens, 64});
  record.values = Tensor(Shape{1, kTokens, 64});
  record.lse = Tensor(Shape{1, kTokens}, DType::kF64);
  std::ranges::fill(record.lse.mutable_values<double>(), 11.0);
  return std::make_shared<const AttentionRecord>(std::move(record));
}

void expect_stops(const std::function<void()>& work) {
  const auto seconds = seconds_to_stop(work);
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopQuickly);
}

TEST(Stopping, MapsOfLongTextsLeaveAtOnce) {
  const auto record = long_record();
  const AttentionMap map(record, 0);
  {
    SCOPED_TRACE("tile");
    expect_stops([&] { map.tile({0, 20'000, 0, 20'000}); });
  }
  {
    SCOPED_TRACE("pooled");
    expect_stops([&] { map.pooled(map.whole(), 64); });
  }
  {
    SCOPED_TRACE("columns");
    expect_stops([&] { map.column_sums(); });
  }
  {
    SCOPED_TRACE("entropy");
    expect_stops([&] { map.entropy(); });
  }
  {
    SCOPED_TRACE("values");
    expect_stops([&] { map.times_right(Tensor(Shape{kTokens, 64})); });
  }
  {
    SCOPED_TRACE("drawn");
    expect_stops([&] { pooled_map(record, 0, 32, Merge::kMax); });
  }
}

}  // namespace
}  // namespace fovea
