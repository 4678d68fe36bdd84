#include "fovea/explain/faithfulness/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/explain/faithfulness/resampling.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

// Sums of at most 40 products in double.
constexpr double kRounding = 1e-13;

std::vector<double> numbers(const Json& json, std::string_view name) {
  std::vector<double> values;
  for (const Json& value : json.at(name, "ranks.json").as_array("ranks.json")) {
    values.push_back(value.as_double("ranks.json"));
  }
  return values;
}

Json::Array rank_answers() {
  const std::string path = test_data("explain/ranks.json");
  return Json::parse(read_text_file(path), path).as_array(path);
}

TEST(RankCorrelation, IsWhatScipyAnswersWithTiesAndWithout) {
  for (const Json& answer : rank_answers()) {
    const std::vector<double> a = numbers(answer, "a"), b = numbers(answer, "b");
    const auto expected = [&](const char* name) {
      return answer.at(name, "ranks.json").as_double("ranks.json");
    };
    EXPECT_NEAR(kendall_tau_b(a, b), expected("tau_b"), kRounding) << answer.dump();
    EXPECT_NEAR(kendall_tau_b(b, a), expected("tau_b"), kRounding) << answer.dump();
    EXPECT_NEAR(spearman(a, b), expected("rho"), kRounding) << answer.dump();
    EXPECT_EQ(ranks_of(a), numbers(answer, "ranks"));
  }
}

TEST(RankCorrelation, IsNoNumberWhereAListIsConstant) {
  const std::vector<double> same{2, 2, 2}, other{1, 2, 3};
  EXPECT_TRUE(std::isnan(kendall_tau_b(same, other)));
  EXPECT_TRUE(std::isnan(kendall_tau_b(other, same)));
  EXPECT_TRUE(std::isnan(spearman(same, other)));
  EXPECT_TRUE(std::isnan(spearman({}, {})));
  EXPECT_TRUE(std::isnan(kendall_tau_b({}, {})));
}

TEST(RankCorrelation, RefusesListsOfDifferentLengths) {
  const std::vector<double> two{1, 2}, three{1, 2, 3};
  const auto kind = ErrorKind::kInvalidArgument;
  EXPECT_TRUE(fails_with(kind, "2 numbers", [&] { kendall_tau_b(two, three); }));
  EXPECT_TRUE(fails_with(kind, "2 numbers", [&] { spearman(two, three); }));
}

TEST(Quantile, IsWhatNumpyAnswers) {
  for (const Json& answer : rank_answers()) {
    const std::vector<double> a = numbers(answer, "a"), expected = numbers(answer, "quantiles");
    const double places[] = {0, 0.025, 0.5, 0.975, 1};
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(quantile(a, places[i]), expected[i], kRounding);
    }
  }
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Quantile, SpreadsOverTheMiddle95Percent) {
  std::vector<double> values(201);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const Interval interval = spread_of(values);
  EXPECT_DOUBLE_EQ(interval.low, 5);
  EXPECT_DOUBLE_EQ(interval.high, 195);
  EXPECT_DOUBLE_EQ(interval.mean, 100);
}

TEST(Draws, AreThoseOfSplitMix64) {
  Draws draws(1234567);  // the numbers that its author gives for this seed
  EXPECT_EQ(draws.next(), 6457827717110365317U);
  EXPECT_EQ(draws.next(), 3203168211198807973U);
  EXPECT_EQ(draws.next(), 9817491932198370423U);
}

TEST(Bootstrap, OfTheSameNumberIsThatNumber) {
  const std::vector<double> same(12, 0.25);
  const Interval interval = bootstrap_mean(same, 1000, 3);
  EXPECT_EQ(interval.mean, 0.25);
  EXPECT_EQ(interval.low, 0.25);
  EXPECT_EQ(interval.high, 0.25);
}

TEST(Bootstrap, IsAsWideAsTheStandardErrorSays) {
  std::vector<double> values;
  Draws draws(5);
  for (int i = 0; i < 400; ++i) values.push_back(draws.uniform());
  const Interval interval = bootstrap_mean(values, 1000, 7);
  // 1.96 standard errors of a uniform number to each side; 1000 resamples know them to about 5 %.
  const double reach = 1.96 * std::sqrt(1.0 / 12 / 400);
  EXPECT_NEAR(interval.high - interval.mean, reach, 0.2 * reach);
  EXPECT_NEAR(interval.mean - interval.low, reach, 0.2 * reach);
}

TEST(Bootstrap, IsTheSameForTheSameSeedOnly) {
  const std::vector<double> values{1, 2, 4, 8, 16, 32};
  EXPECT_EQ(bootstrap_mean(values, 100, 1).low, bootstrap_mean(values, 100, 1).low);
  EXPECT_NE(bootstrap_mean(values, 100, 1).low, bootstrap_mean(values, 100, 2).low);
}

}  // namespace
}  // namespace fovea
