// The columns in which a row and the next one differ most, against a search through the whole map.
#include <gtest/gtest.h>

#include <algorithm>

#include "ask_test_support.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::captured_session;
using support::question_of;

TEST(Differ, FindsTheColumnsThatChangeMost) {
  const Session session = captured_session(1);
  const Answer answer =
      session.ask(question_of("{'kind': 'differ', 'head': 1, 'token': 2, 'most': 3}"));
  const AttentionMap map(session.run()->run().record({SiteKind::kSelf, 0}), 1);
  const Tensor all = map.tile(map.whole());
  const MatrixView<const float> weights = all.matrix<float>();
  std::vector<std::pair<double, int64_t>> changes;
  for (int64_t c = 0; c < weights.cols; ++c) {
    changes.emplace_back(-std::abs(double{weights(3, c)} - double{weights(2, c)}), c);
  }
  std::ranges::sort(changes);
  const Json::Array& found = answer.facts.at("result", "").at("columns", "").as_array("");
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].at("column", "").as_int(""), changes[i].second);
    // 1e-6: weights in f32
    EXPECT_NEAR(std::abs(found[i].at("change", "").as_double("")), -changes[i].first, 1e-6);
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"token"}, "last token", [&] {
    session.ask(question_of("{'kind': 'differ', 'token': '[SEP]'}"));
  }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "no maps in a table", [&] { numbers_of(answer); }));
}

TEST(Differ, NeedsARowThatFollows) {
  const Session one = Session::of(support::text_run({"the"}, 1));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no row comes after it",
                         [&] { one.ask(question_of("{'kind': 'differ'}")); }));
}

}  // namespace
}  // namespace fovea
