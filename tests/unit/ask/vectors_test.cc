// Questions about vectors that somebody chose.
#include "fovea/ask/vectors.h"

#include <gtest/gtest.h>

#include "ask_test_support.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::json_of;

constexpr const char* kWords = R"({"inputs": [[1, 0], [0, 1], [1, 1]],
  "labels": ["cats", "2", "sleep"], "heads": 2})";
constexpr const char* kPicture = R"({"image": {"height": 2, "width": 3,
  "pixels": [[1], [2], [3], [4], [5], [6]]}})";
constexpr const char* kMemory = R"({"memory": {"keys": [[1, 0], [0, 1]], "values": [[1], [2]]},
  "query": [1, 0]})";

StepsView view_of(const char* file, const std::string& question) {
  return ask_vectors(file, "file.json", json_of(question)).view;
}

void expect_refused(const char* file, const std::string& question, const char* field) {
  try {
    view_of(file, question);
    ADD_FAILURE() << question;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << error.what();
    EXPECT_EQ(error.field(), field) << error.what();
  }
}

TEST(Vectors, AVectorIsNamedByItsLabelOrItsNumber) {
  EXPECT_EQ(view_of(kWords, "{}").place, std::nullopt);
  EXPECT_EQ(view_of(kWords, "{'token': 'sleep', 'head': 1}").place, 2);
  EXPECT_EQ(view_of(kWords, "{'token': '0'}").place, 0);
  EXPECT_EQ(view_of(kWords, "{'token': '2', 'column': true}").place, 1) << "a label comes first";
  expect_refused(kWords, "{'token': 'cat'}", "token");
  expect_refused(kWords, "{'token': '3'}", "token");
}

TEST(Vectors, APictureHasAChosenPixel) {
  EXPECT_EQ(view_of(kPicture, "{}").place, 4) << "the centre";
  EXPECT_EQ(view_of(kPicture, "{'at': [2, 0]}").place, 2);
  expect_refused(kPicture, "{'at': [2, 0], 'token': '1'}", "token");
  expect_refused(kWords, "{'at': [0, 0]}", "at");
}

TEST(Vectors, WhatDoesNotSuitThemIsAnErrorAboutTheField) {
  expect_refused(kWords, "{'head': 2}", "head");
  expect_refused(kWords, "{'column': true}", "column");
  expect_refused(kMemory, "{'head': 0}", "head");
  expect_refused(kMemory, "{'column': true}", "column");
  expect_refused(kWords, "{'similarity': 'cosin'}", "similarity");
  expect_refused(kWords, "{'temperature': -1}", "temperature");
  expect_refused(kWords, "{'layer': 1}", "layer");
}

TEST(Vectors, EveryIntermediateIsDataUnderItsName) {
  const VectorSteps steps =
      ask_vectors(kMemory, "file.json", json_of("{'temperature': 0.5, 'similarity': 'dot'}"));
  const Json json = vectors_json(steps);
  EXPECT_EQ(json.at("temperature", "").as_double(""), 0.5);
  const double soft =
      json.at("soft", "").as_array("")[0].at("weights", "").as_array("")[0].as_double("");
  EXPECT_NEAR(soft, 1 / (1 + std::exp(-2.0)), 1e-12);
  for (const NamedTensor& array : vectors_arrays(steps)) {
    if (array.name == "soft_weights") {
      EXPECT_EQ(array.tensor.values<double>()[0], soft);
    }
  }
}

}  // namespace
}  // namespace fovea
