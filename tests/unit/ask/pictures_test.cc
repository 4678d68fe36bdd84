// Questions about a picture: what is taken where nobody says it, masks, found objects, and what
// cannot be asked.
#include <gtest/gtest.h>

#include <optional>

#include "ask_test_support.h"
#include "fovea/ask/picture_results.h"
#include "fovea/base/file.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::fact;
using support::question_of;

const Engine& picture_engine() {
  static const Engine kEngine =
      Engine::open(test_data("../../models/scenes-vit").lexically_normal().string());
  return kEngine;
}

// A scene at 40 x 32 pixels: 4 rows of 5 patches.
Session picture_session() {
  Input input;
  const std::filesystem::path path = test_data("../../models/scenes-vit/demo/scene-1.png");
  input.what = PictureBytes{.bytes = read_text_file(path), .name = "a scene"};
  input.size = PictureSize{40, 32};
  return Session::open(picture_engine(), std::move(input), {.values = false});
}

const Session& scene() {
  static const Session kSession = picture_session();
  return kSession;
}

Answer asked(const std::string& text) {
  return scene().ask(question_of(text));
}

const Json& picture_result(const Answer& answer) {
  return answer.facts.at("result", "");
}

TEST(PictureQuestion, TheTokenInFrontLooksWhereNothingIsChosen) {
  const Answer answer = asked("{'kind': 'maps'}");
  EXPECT_EQ(fact(answer, "site"), "\"self\"");
  EXPECT_EQ(fact(answer, "layer"), "7");
  EXPECT_EQ(fact(answer, "head"), "\"all\"");
  EXPECT_EQ(fact(answer, "input"), R"({"picture":"a scene","size":[40,32]})");
  EXPECT_EQ(picture_result(answer).at("query", "").as_string(""), "[CLS]");
  EXPECT_EQ(picture_result(answer).at("picture", "").dump(), "[224,224]");
  EXPECT_EQ(numbers_of(answer).weights.shape(), (Shape{6, 4, 5}));
  EXPECT_EQ(picture_result(answer).find("masks"), nullptr);
  EXPECT_FALSE(answer.labels);
  EXPECT_NE(answer.facts.at("outputs", "").find("artifacts"), nullptr);
  EXPECT_NE(answer.facts.at("outputs", "").find("classes"), nullptr);
}

TEST(PictureQuestion, APatchIsChosenByItsPixelOrItsName) {
  // 224 pixels lie under 5 columns and 4 rows: pixel 100,60 is in column 2 of row 1.
  const Answer by_pixel = asked("{'kind': 'maps', 'at': [100, 60], 'head': 2}");
  const Answer by_name = asked("{'kind': 'maps', 'token': 'patch 1,2', 'head': 2}");
  EXPECT_EQ(picture_result(by_pixel).dump(), picture_result(by_name).dump());
  const Tensor weights = numbers_of(by_pixel).weights;
  const AttentionMap map = scene().map({SiteKind::kSelf, 7}, 2);
  const Tensor row = map.tile({1 + 1 * 5 + 2, 1 + 1 * 5 + 3, 1, 21});
  EXPECT_TRUE(std::ranges::equal(weights.values<float>(), row.values<float>()));
  EXPECT_EQ(fact(asked("{'kind': 'maps', 'token': 'cls', 'column': true}"), "direction"),
            "\"column\"");
}

TEST(PictureQuestion, AMaskIsToldAsCellsRunsBoxAndLabels) {
  const Answer answer = asked("{'kind': 'maps', 'mask': 0.6, 'head': 'mean'}");
  const Json::Array& cells = picture_result(answer).at("masks", "").as_array("")[0].as_array("");
  ASSERT_EQ(cells.size(), 20u);
  ASSERT_TRUE(answer.labels);
  // The label below the middle of each patch, whose sides are 224 / 5 and 224 / 4 pixels.
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t x = (2 * (i % 5) + 1) * 224 / 10, y = (2 * (i / 5) + 1) * 224 / 8;
    EXPECT_EQ(answer.labels->labels[y * 224 + x], cells[i].as_int(""));
  }
  double held = 0, all = 0;
  const MapData numbers = numbers_of(answer);
  for (size_t i = 0; i < cells.size(); ++i) {
    const double weight = numbers.weights.values<float>()[i];
    all += weight;
    if (cells[i].as_int("") == 1) held += weight;
  }
  EXPECT_GE(held / all, 0.6 - 1e-6) << "numbers hold every weight, the figure those of the mask";
  EXPECT_EQ(picture_result(answer).at("boxes_xyxy", "").as_array("").size(), 1u);
  EXPECT_FALSE(asked("{'kind': 'maps', 'mask': 0.6}").labels) << "every head has its own";
  EXPECT_FALSE(asked("{'kind': 'maps', 'mask': 0.6, 'head': [0, 1]}").labels);
}

TEST(PictureQuestion, FoundObjectsHaveTheirSeedInsideOfTheMask) {
  for (const char* kind : {"lost", "tokencut"}) {
    const Answer answer = asked("{'kind': '" + std::string(kind) + "', 'layer': 2}");
    EXPECT_EQ(fact(answer, "layer"), "2");
    const Json::Array& seed = picture_result(answer).at("seed", "").as_array("");
    const Json::Array& mask = picture_result(answer).at("mask", "").as_array("");
    const auto row = static_cast<size_t>(seed[0].as_int(""));
    EXPECT_EQ(mask[row].as_array("")[static_cast<size_t>(seed[1].as_int(""))].as_int(""), 1);
    EXPECT_TRUE(answer.labels);
    EXPECT_EQ(numbers_of(answer).weights.shape(), (Shape{3, 4, 5}));
    EXPECT_EQ(numbers_of(answer).panels[2], "object");
  }
  EXPECT_EQ(fact(asked("{'kind': 'lost'}"), "method"), "\"LOST\"");
}

TEST(PictureQuestion, ViewsOfHeadsAndLayersSayWhatTheyAreOf) {
  EXPECT_EQ(fact(asked("{'kind': 'kernels', 'radius': 1, 'layer': 'all'}"), "layer"),
            "[0,1,2,3,4,5,6,7]");
  EXPECT_EQ(numbers_of(asked("{'kind': 'kernels', 'radius': 1}")).weights.shape(),
            (Shape{6, 3, 3}));
  const Answer convolution = asked("{'kind': 'convolution'}");
  EXPECT_EQ(fact(convolution, "site"), "null") << "of no model";
  // Sums of 27 products of numbers up to 8, in f32.
  EXPECT_LT(picture_result(convolution).at("largest_difference", "").as_double(""), 1e-4);
  EXPECT_EQ(numbers_of(asked("{'kind': 'distances'}")).weights.shape(), (Shape{8, 6}));
  const Answer field = asked("{'kind': 'field'}");
  EXPECT_EQ(fact(field, "method"), "\"rollout\"");
  EXPECT_EQ(picture_result(field).at("patch", "").as_string(""), "patch 2,2");
  const Answer composite = asked("{'kind': 'composite', 'mask': 0.3}");
  EXPECT_EQ(picture_result(composite).at("heads", "").as_array("").size(), 6u);
  EXPECT_EQ(numbers_of(composite).weights.shape(), (Shape{4, 5}));
}

TEST(PictureQuestion, WhatCannotBeAskedIsToldWithItsField) {
  const auto wrong = [](const std::string& text, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part, [&] { asked(text); });
  };
  EXPECT_TRUE(wrong("{'kind': 'maps', 'mask': 0}", "mask", "above 0 and up to 1"));
  EXPECT_TRUE(wrong("{'kind': 'composite', 'mask': 1.5}", "mask", "1.5 is not"));
  EXPECT_TRUE(wrong("{'kind': 'maps', 'at': [500, 5]}", "at", "224 x 224 pixels"));
  EXPECT_TRUE(wrong("{'kind': 'maps', 'at': [1, 1], 'token': '[CLS]'}", "at", "with `token`"));
  EXPECT_TRUE(wrong("{'kind': 'maps', 'token': '[REG 1]'}", "token", "stands [CLS]"));
  EXPECT_TRUE(wrong("{'kind': 'maps', 'without_artifacts': true, 'column': true}",
                    "without_artifacts", "with `column`"));
  EXPECT_TRUE(wrong("{'kind': 'lost', 'head': 1}", "head",
                    "lost does not take it but maps, parts, top_patches do"));
  EXPECT_TRUE(wrong("{'kind': 'lost', 'layer': 'all'}", "layer", "'all' is not a whole number"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"text"}, "compares no picture with a text",
                         [] { asked("{'kind': 'maps', 'text': ['a cat']}"); }));
  const Session bert = support::fixture_session("bert_masked_lm");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "sees no pictures",
                         [&] { bert.ask(question_of("{'kind': 'lost'}")); }));
}

TEST(PictureQuestion, ACapturedRunIsAskedWithoutItsModel) {
  const Session captured = Session::of(scene().run()->run());
  const auto ask = [&](const std::string& text) { return captured.ask(question_of(text)); };
  EXPECT_EQ(numbers_of(ask("{'kind': 'lost'}")).weights.shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(fact(ask("{'kind': 'kernels', 'radius': 1}"), "layer"), "7");
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "a captured run", [&] { ask("{'kind': 'distances'}"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"without_artifacts"}, "captured run",
                         [&] { ask("{'kind': 'maps', 'without_artifacts': true}"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"text"}, "captured run",
                         [&] { ask("{'kind': 'maps', 'text': ['a cat']}"); }));
}

TEST(PictureQuestion, AnAnswerOutlivesItsSession) {
  std::optional<Answer> answer;
  std::string before;
  {
    const Session session = picture_session();
    answer = session.ask(question_of("{'kind': 'lost'}"));
    before = whole(*answer).dump();
  }
  EXPECT_EQ(whole(*answer).dump(), before);
}

TEST(PictureQuestion, APageOpensAtThePatch) {
  const PageOptions page = scene().page(question_of("{'kind': 'maps', 'at': [0, 0], 'layer': 3}"));
  EXPECT_EQ(page.choice.token, "#1");
  EXPECT_EQ(page.choice.kind, SiteKind::kSelf);
  EXPECT_EQ(scene().page(question_of("{'kind': 'maps', 'column': true}")).choice.token, "#0");
}

TEST(PictureResults, BoxesAndRunsAreThoseOfCoco) {
  EXPECT_EQ(box_json({1, 2, 3, 5}).dump(), "[1.0,2.0,3.0,5.0]");
  EXPECT_TRUE(box_json({1, 2, 1, 5}).is_null());
  LabelMask labels(PictureSize{2, 2});
  labels.labels = {0, 1, 0, 1};
  EXPECT_EQ(rle_json(labels).dump(), R"({"size":[2,2],"counts":"22"})") << "two out, two in";
}

}  // namespace
}  // namespace fovea
