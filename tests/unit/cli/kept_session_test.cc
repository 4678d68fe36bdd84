// A session that stays open for several questions of one input.
#include "fovea/cli/gallery/kept_session.h"

#include <gtest/gtest.h>

#include "support/data.h"

namespace fovea {
namespace {

TEST(KeptSession, IsUsedForAnotherQuestionOfTheSamePictureOnly) {
  const std::string model = test_data("../../models/scenes-detr").lexically_normal().string();
  KeptSession kept;
  const auto run = [&](const char* size, const char* question) {
    const Json input = Json::object(
        {{"picture", model + "/demo/scene-1.png"}, {"size", Json::parse(size, "size")}});
    const Session& session = kept.open(model, input);
    session.ask(parse_question(Json::parse(question, "question"), RunSort::kObjects));
    return session.run();
  };
  const auto first = run("[240, 192]", "{}");
  EXPECT_EQ(run("[240, 192]", R"({"threshold": 0.99})"), first);
  EXPECT_EQ(run("[240, 192]", R"({"kind": "queries", "head": 2})"), first);
  EXPECT_NE(run("[240, 192]", R"({"at": [100, 80], "to": [200, 120]})"), first)
      << "it needs positions";
  EXPECT_NE(run("[320, 256]", "{}"), first);
  EXPECT_NE(run("[240, 192]", "{}"), first) << "one is kept, not all";
}

}  // namespace
}  // namespace fovea
