// Sessions of small models, for tests of questions.
#pragma once

#include <string>
#include <utility>

#include "fovea/ask/session.h"
#include "fovea/engine/input_file.h"
#include "support/data.h"
#include "support/fixture_models.h"
#include "support/runs.h"

namespace fovea::support {

// "['text']" reads better in tests than escaped quotes.
inline Json json_of(std::string text) {
  for (char& letter : text) {
    if (letter == '\'') letter = '"';
  }
  return Json::parse(text, "a test");
}

inline Question question_of(const std::string& text) {
  return parse_question(json_of(text));
}

// Token ids of the fixture that transformers answered.
inline Session fixture_session(const char* name) {
  Input input;
  input.what = read_inputs(parity_folder(name) / "inputs.safetensors");
  return Session::open(Engine::open(parity_folder(name).string()), std::move(input));
}

inline Session captured_session(int layers = 2) {
  return Session::of(
      text_run({"[CLS]", "the", "cat", "chas|ing", "it", "[SEP]"}, 4, /*causal=*/false, layers));
}

inline const Engine& translation_engine() {
  static const Engine kEngine =
      Engine::open(test_data("../../models/en-fr").lexically_normal().string());
  return kEngine;
}

inline Json result_of(const Answer& answer) {
  return answer.facts.at("result", "");
}

inline std::string fact(const Answer& answer, std::string_view name) {
  const Json* value = answer.facts.find(name);
  return value == nullptr ? "nothing" : value->dump();
}

}  // namespace fovea::support
