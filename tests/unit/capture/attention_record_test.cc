#include "fovea/capture/attention_record.h"

#include <gmock/gmock.h>

#include <limits>

#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::plain_case;
using support::record_of;
using ::testing::HasSubstr;

std::string refusal(const AttentionRecord& record) {
  try {
    validate(record);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AttentionRecord, IsCheckedWhole) {
  const AttentionRecord good = record_of(plain_case(6, 8, true, 1), {SiteKind::kEncoderSelf, 3});
  EXPECT_EQ(refusal(good), "");
  AttentionRecord bad = good;
  bad.lse = Tensor(Shape{1, 5}, DType::kF64);
  EXPECT_THAT(refusal(bad), HasSubstr("encoder_self.3: LSE is F64 [1, 5]"));
  bad = good;
  bad.keys = Tensor(Shape{1, 6, 7});
  EXPECT_THAT(refusal(bad), HasSubstr("K is"));
  bad = good;
  bad.queries = Tensor(Shape{6, 8});
  EXPECT_THAT(refusal(bad), HasSubstr("Q is"));
  bad = good;
  bad.values = Tensor(Shape{1, 5, 8});
  EXPECT_THAT(refusal(bad), HasSubstr("V is"));
  bad = good;
  bad.rule.scale = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(bad), HasSubstr("scale"));
  bad = good;
  bad.rule.mask.key_valid = {1, 1};
  EXPECT_THAT(refusal(bad), HasSubstr("2 entries but the attention needs 6"));
  bad = good;
  Tensor queries = good.queries.clone();
  queries.mutable_values<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  bad.queries = queries;
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "NaN", [&] { validate(bad); }));
  bad = good;
  bad.output_gradient = Tensor(Shape{1, 6, 7});
  EXPECT_THAT(refusal(bad), HasSubstr("output gradient"));
  bad.values = Tensor();  // then any size of values may be meant
  EXPECT_EQ(refusal(bad), "");
  bad.output_gradient = Tensor(Shape{1, 5, 7});
  EXPECT_THAT(refusal(bad), HasSubstr("output gradient"));
  bad = good;
  bad.block = BlockContext{.input = Tensor(Shape{6, 4}), .output_weight = Tensor(Shape{4, 9})};
  EXPECT_THAT(refusal(bad), HasSubstr("output weight"));
}

}  // namespace
}  // namespace fovea
