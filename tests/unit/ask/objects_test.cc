// Questions about the objects that a model found in a picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <numeric>

#include "ask_test_support.h"
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/object_masks.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/file.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::fact;
using support::json_of;
using support::result_of;

std::string detector_folder() {
  return test_data("../../models/scenes-detr").lexically_normal().string();
}

Session scene_session() {
  static const Engine kEngine = Engine::open(detector_folder());
  const std::string path = detector_folder() + "/demo/scene-1.png";
  Input input{.what = PictureBytes{read_text_file(path), path}, .size = PictureSize{240, 192}};
  return Session::open(kEngine, std::move(input), {.values = false});
}

Question object_question(const std::string& text) {
  return parse_question(json_of(text), RunSort::kObjects);
}

size_t found_in(const Answer& answer) {
  return answer.facts.at("outputs", "").at("objects", "").as_array("").size();
}

TEST(Objects, WithoutAKindTheFieldsSayWhichIsMeant) {
  const auto meant = [](const std::string& text) { return object_question(text).kind; };
  EXPECT_EQ(meant("{}"), "objects");
  EXPECT_EQ(meant("{'threshold': 0.2}"), "objects");
  EXPECT_EQ(meant("{'at': [1, 2], 'to': [3, 4]}"), "why");
  EXPECT_EQ(meant("{'at': [1, 2]}"), "cells");
  EXPECT_EQ(meant("{'at': [[1, 2]]}"), "cells");
  EXPECT_EQ(meant("{'at': [[1, 2], [3, 4]]}"), "points");
  EXPECT_EQ(meant("{'query': 3, 'head': 'all'}"), "queries");
  EXPECT_EQ(meant("{'rows': [0, 4]}"), "cell_matrix");
  EXPECT_EQ(meant("{'mask_cut': 'otsu'}"), "masks");
  EXPECT_EQ(meant("{'in_box': true}"), "masks");
  Question several;
  several.place.at = {{1, 2}, {3, 4}};
  EXPECT_EQ(usual_kind(to_json(several), RunSort::kObjects), "points");
}

TEST(Objects, WhatCannotBeAskedIsToldWithItsField) {
  const auto wrong = [](const std::string& text, const char* field, const char* part) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, part,
                      [&] { object_question(text); });
  };
  EXPECT_TRUE(wrong("{'threshold': 1.5}", "threshold", "from 0 to 1"));
  EXPECT_TRUE(wrong("{'kind': 'cells'}", "at", "cells needs it"));
  EXPECT_TRUE(wrong("{'kind': 'cells', 'at': [[1, 2], [3, 4]]}", "at", "2 are given"));
  EXPECT_TRUE(wrong("{'to': [3, 4]}", "to", "give `at` too"));
  EXPECT_TRUE(wrong("{'kind': 'why', 'at': [3, 4]}", "to", "why needs it"));
  EXPECT_TRUE(wrong("{'at': [1, 2], 'to': [3, 4], 'head': 'mean'}", "head", "or all"));
  EXPECT_TRUE(wrong("{'kind': 'queries', 'head': 'all'}", "head", "give `query` too"));
  EXPECT_TRUE(wrong("{'kind': 'points', 'head': 'all'}", "head", "or mean, max"));
  EXPECT_TRUE(wrong("{'rows': [9, 5]}", "rows", "[9,5] is not a range A:B"));
  EXPECT_TRUE(wrong("{'kind': 'objects', 'layer': 1}", "layer", "objects does not take it"));
  const std::string nine = "[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1],[1,1]";
  EXPECT_TRUE(wrong("{'at': [" + nine + "]}", "at", "9 are given but 8 at most"));
}

TEST(Objects, WhatModelAndPictureDoNotHaveIsToldBeforeItRuns) {
  const Session session = scene_session();
  const auto wrong = [&](const std::string& text, const char* field, const char* part,
                         ErrorKind kind = ErrorKind::kInvalidArgument) {
    return fails_with(kind, Field{field}, part, [&] { session.ask(object_question(text)); });
  };
  EXPECT_TRUE(wrong("{'at': [640, 0]}", "at", "640,0 is outside of the picture"));
  EXPECT_TRUE(wrong("{'at': [1, 1], 'to': [1, 999]}", "to", "640 x 512"));
  EXPECT_TRUE(wrong("{'query': 25}", "query", "25 object queries, 0 to 24"));
  EXPECT_TRUE(wrong("{'at': [1, 1], 'layer': 4}", "layer", "0 to 3"));
  EXPECT_TRUE(wrong("{'rows': [0, 181]}", "rows", "180 cells"));
  EXPECT_TRUE(wrong("{'mask_cut': 'mass:2'}", "mask_cut", "there are otsu"));
  EXPECT_TRUE(wrong("{'mask_from': 'head'}", "mask_from", "no mask head", ErrorKind::kUnsupported));
  const Session text = support::fixture_session("bert_masked_lm");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "finds no objects",
                         [&] { text.ask(object_question("{}")); }));
  const Session captured = Session::of(session.run({.all_logits = true})->run());
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "neither a captured run",
                         [&] { captured.ask(object_question("{}")); }));
  EXPECT_EQ(fact(captured.ask({}), "question"), R"({"kind":"heads"})");
}

TEST(Objects, AreTheAnswerOfAnEmptyQuestionAndAmongTheOutputsOfAll) {
  const Session session = scene_session();
  const Answer answer = session.ask({});
  EXPECT_EQ(fact(answer, "question"), R"({"kind":"objects"})");
  EXPECT_EQ(fact(answer, "site"), "null");
  EXPECT_EQ(fact(answer, "result"), R"({"picture":[640,512]})");
  EXPECT_EQ(answer.facts.at("outputs", "").at("threshold", "").as_double(""), 0.7);
  ASSERT_GT(found_in(answer), 1u);
  EXPECT_EQ(numbers_of(answer).weights.shape(), (Shape{static_cast<int64_t>(found_in(answer)), 6}));
  EXPECT_EQ(whole(answer).dump(), answer.facts.dump()) << "boxes are there already";
  const Answer all = session.ask(object_question("{'threshold': 0, 'kind': 'between'}"));
  EXPECT_GT(found_in(all), found_in(answer));
  EXPECT_EQ(all.figure.index(), Figure(MatrixFigure{}).index());
  EXPECT_EQ(fact(all, "site"), "\"decoder_self\"");
  EXPECT_EQ(fact(all, "head"), "\"mean\"");
}

TEST(Objects, RowsSumToOneAndColumnsAreToldAgainstUniformAttention) {
  const Session session = scene_session();
  const Answer row = session.ask(object_question("{'at': [100, 80]}"));
  EXPECT_EQ(fact(row, "site"), "\"encoder_self\"");
  EXPECT_EQ(fact(row, "layer"), "3");
  EXPECT_EQ(fact(row, "head"), "\"all\"");
  const Json result = result_of(row);
  EXPECT_EQ(result.find("times_uniform"), nullptr);
  for (const Json& sum : result.at("sums", "").as_array("")) {
    EXPECT_NEAR(sum.as_double(""), 1, 1e-5);  // the contract of weights
  }
  const Answer column =
      session.ask(object_question("{'at': [100, 80], 'column': true, 'head': 'mean'}"));
  EXPECT_EQ(fact(column, "direction"), "\"column\"");
  EXPECT_EQ(result_of(column).at("times_uniform", "").as_array("").size(), 1u);
  const Answer points = session.ask(object_question("{'kind': 'points', 'layer': 1}"));
  EXPECT_EQ(fact(points, "head"), "\"mean\"");
  EXPECT_EQ(fact(points, "layer"), "1");
  EXPECT_EQ(numbers_of(points).weights.size(0), 4);
  const Answer queries = session.ask(object_question("{'kind': 'queries'}"));
  EXPECT_EQ(fact(queries, "site"), "\"cross\"");
  EXPECT_EQ(static_cast<size_t>(numbers_of(queries).weights.size(0)), found_in(queries));
  EXPECT_EQ(fact(session.ask(object_question("{'query': 2}")), "head"), "\"all\"");
}

TEST(Objects, AMapIsShownAsAWholeOrInPart) {
  const Session session = scene_session();
  const Answer whole_map = session.ask(object_question("{'kind': 'cell_matrix', 'head': 2}"));
  const Answer part = session.ask(object_question("{'rows': [3, 7], 'cols': [0, 180], 'head': 2}"));
  const Tensor all = numbers_of(whole_map).weights, some = numbers_of(part).weights;
  EXPECT_EQ(all.shape(), (Shape{180, 180}));
  ASSERT_EQ(some.shape(), (Shape{4, 180}));
  for (int64_t c = 0; c < 180; ++c) {
    EXPECT_FLOAT_EQ(some.matrix<float>()(0, c), all.matrix<float>()(3, c));
  }
}

TEST(Objects, WhyAPairAttendsNeedsThePositionsOfTheRun) {
  const Session session = scene_session();
  session.ask({});
  const auto before = session.run();
  EXPECT_FALSE(before->has.positions);
  const Answer why = session.ask(object_question("{'at': [100, 80], 'to': [200, 120]}"));
  EXPECT_TRUE(session.run()->has.positions);
  EXPECT_TRUE(session.run()->has.all_logits) << "what was there stays";
  const Json::Array heads = result_of(why).at("heads", "").as_array("");
  EXPECT_EQ(numbers_of(why).weights.shape(), (Shape{static_cast<int64_t>(heads.size()), 5}));
  for (const Json& head : heads) {
    double sum = 0;
    for (const char* term :
         {"content_content", "content_position", "position_content", "position_position"}) {
      sum += head.at(term, "").as_double("");
    }
    EXPECT_NEAR(sum, head.at("score", "").as_double(""), 1e-9);  // both in double
  }
  const auto kept = session.run();
  session.ask(object_question("{'kind': 'queries', 'threshold': 0.2}"));
  EXPECT_EQ(session.run(), kept) << "one run for several questions";
}

TEST(Objects, MasksAreAlsoAPictureOfNumbers) {
  const Session session = scene_session();
  const Answer masks = session.ask(object_question("{'kind': 'masks', 'in_box': true}"));
  const Json::Array methods = result_of(masks).at("methods", "").as_array("");
  ASSERT_EQ(methods.size(), 2u) << "encoder and cross-attention";
  EXPECT_EQ(methods[0].at("from", "").as_string(""), "encoder");
  ASSERT_TRUE(masks.labels);
  EXPECT_EQ(masks.labels->size, (PictureSize{640, 512}));
  EXPECT_LE(masks.labels->objects().size(), found_in(masks));
  const MapData numbers = numbers_of(masks);
  EXPECT_EQ(numbers.weights.shape(), (Shape{static_cast<int64_t>(found_in(masks)), 512, 640}));
  const auto values = numbers.weights.values<float>();
  int64_t area = 0;
  for (const Json& one : methods[0].at("masks", "").as_array("")) {
    area += one.at("area", "").as_int("");
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), static_cast<double>(area));
  EXPECT_EQ(whole(masks).dump(), masks.facts.dump()) << "pixels are not written out as JSON";
  EXPECT_FALSE(label_mask_of(std::vector<PixelMask>(256, PixelMask(2, 2)), {2, 2}));
}

TEST(Objects, NoneIsAResultToo) {
  const Session session = scene_session();
  for (const char* kind : {"objects", "queries", "masks", "between"}) {
    SCOPED_TRACE(kind);
    const Answer answer =
        session.ask(object_question(std::string("{'threshold': 1, 'kind': '") + kind + "'}"));
    EXPECT_EQ(found_in(answer), 0u);
    // A scene this small is also told to be unlike the training.
    EXPECT_EQ(std::ranges::count_if(answer.notes,
                                    [](const std::string& note) {
                                      return note.starts_with("no object has a score above 1; ");
                                    }),
              1);
    EXPECT_FALSE(numbers_of(answer).weights.empty());
  }
  const Answer masks = session.ask(object_question("{'threshold': 1, 'kind': 'masks'}"));
  ASSERT_TRUE(masks.labels);
  EXPECT_TRUE(masks.labels->objects().empty());
}

TEST(Objects, APageOpensWhereTheQuestionIs) {
  const Session session = scene_session();
  EXPECT_FALSE(session.page({}).choice.kind);
  const PageOptions cell = session.page(object_question("{'at': [100, 80], 'column': true}"));
  EXPECT_EQ(cell.choice.kind, SiteKind::kEncoderSelf);
  EXPECT_EQ(cell.choice.token, "#17");  // cell 1,2 of 12 x 15
  EXPECT_TRUE(cell.choice.column);
  const PageOptions points =
      session.page(object_question("{'kind': 'points', 'column': true, 'head': 'max'}"));
  EXPECT_FALSE(points.choice.column) << "a column of nothing";
  EXPECT_EQ(session.page(object_question("{'query': 4}")).choice.token, "#4");
}

// Everything that an answer gives but its drawing.
std::string all_numbers_of(const Answer& answer) {
  const MapData numbers = numbers_of(answer);
  std::string text = whole(answer).dump();
  for (const float value : numbers.weights.values<float>()) text += fmt::format(" {}", value);
  if (answer.labels) text.append(answer.labels->labels.begin(), answer.labels->labels.end());
  return text;
}

TEST(Objects, AnAnswerOutlivesItsSessionAndIsReadByAnotherThread) {
  for (const char* asked :
       {"{}", "{'threshold': 1}", "{'kind': 'queries'}", "{'at': [100, 80]}",
        "{'kind': 'points', 'column': true}", "{'kind': 'between'}",
        "{'at': [100, 80], 'to': [200, 120]}", "{'kind': 'masks', 'in_box': true}",
        "{'rows': [0, 4], 'cols': [0, 4]}"}) {
    SCOPED_TRACE(asked);
    auto session = std::make_unique<Session>(scene_session());
    const Answer answer = session->ask(object_question(asked));
    const std::string before = all_numbers_of(answer);
    session.reset();
    EXPECT_EQ(std::async(std::launch::async, [&] { return all_numbers_of(answer); }).get(), before);
  }
}

}  // namespace
}  // namespace fovea
