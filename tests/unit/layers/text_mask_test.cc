#include "fovea/layers/text_mask.h"

#include <gtest/gtest.h>

#include "fovea/layers/attention_cache.h"
#include "support/errors.h"

namespace fovea {
namespace {

// The keys that row `i` of `cols` sees, as "1" and "0".
std::string seen(const ScoreRule& rule, int64_t i, int64_t cols) {
  std::string keys;
  for (int64_t j = 0; j < cols; ++j) keys += rule.mask.allows(i, j) ? '1' : '0';
  return keys;
}

TEST(TextRule, WithoutPartsAllIsSeen) {
  const auto rule = text_rule({}, 0.25F, {});
  EXPECT_EQ(rule->scale, 0.25F);
  EXPECT_EQ(seen(*rule, 0, 4), "1111");
}

TEST(TextRule, AWindowCountsTheTokenItself) {
  const auto rule = text_rule({}, 1, {.causal = true, .window = 3});
  EXPECT_EQ(seen(*rule, 0, 6), "100000");
  EXPECT_EQ(seen(*rule, 2, 6), "111000");
  EXPECT_EQ(seen(*rule, 5, 6), "000111");
  EXPECT_EQ(seen(*text_rule({}, 1, {.causal = true, .window = 1}), 3, 6), "000100");
}

TEST(TextRule, PaddingIsNotSeen) {
  const std::vector<int64_t> attention{1, 1, 0, 1};
  EXPECT_EQ(seen(*text_rule({}, 1, {.attention = attention}), 0, 4), "1101");
  EXPECT_EQ(seen(*text_rule({}, 1, {.causal = true, .attention = attention}), 2, 4), "1100");
  const std::vector<int64_t> all{1, 1, 1, 1};
  EXPECT_TRUE(text_rule({}, 1, {.attention = all})->mask.range_only());
}

TEST(TextRule, StepsOfAGenerationGoOnWhereTheLastEnded) {
  AttentionCache cache;
  cache.advance(4);
  const Pass pass{.cache = &cache};
  EXPECT_EQ(first_position(pass), 4);
  EXPECT_EQ(token_positions(pass, 3), (std::vector<int64_t>{4, 5, 6}));
  EXPECT_EQ(token_positions({}, 2), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(seen(*text_rule(pass, 1, {.causal = true}), 0, 6), "111110");
  EXPECT_EQ(seen(*text_rule(pass, 1, {.causal = true, .window = 2}), 1, 6), "000011");
}

TEST(CheckLength, SaysBothNumbers) {
  const Config config(Json::object(), "config.json");
  EXPECT_NO_THROW(check_length(config, 512, 512));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                         "513 tokens but this model has positions for 512 (config.json)",
                         [&] { check_length(config, 513, 512); }));
}

}  // namespace
}  // namespace fovea
