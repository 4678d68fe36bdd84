// The bundled model against transformers' generate (tools/fixtures/make_translation_answers.py),
// and what a translation's run holds.
#include "fovea/engine/translator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/file.h"
#include "support/data.h"
#include "support/fixture_models.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

std::string bundled_translator() {
  return (test_data("../../models/en-fr")).lexically_normal().string();
}

const Translator& translator() {
  static const Translator kTranslator(Engine::open(bundled_translator()));
  return kTranslator;
}

struct Answer {
  std::string source;
  std::vector<int64_t> ids, greedy, beam;
  double score = 0;
};

std::vector<int64_t> ids_of(const Json& answer, std::string_view key) {
  std::vector<int64_t> ids;
  if (answer.find(key) == nullptr) return ids;
  for (const Json& id : answer.at(key, "").as_array(key)) ids.push_back(id.as_int(key));
  return ids;
}

std::vector<Answer> translation_answers() {
  const auto path = test_data("translation/en-fr.json");
  std::vector<Answer> result;
  const Json json = Json::parse(read_text_file(path), path.string());
  for (const Json& answer : json.as_array("")) {
    result.push_back({answer.at("source", "").as_string("source"), ids_of(answer, "ids"),
                      ids_of(answer, "greedy"), ids_of(answer, "beam")});
    if (const Json* score = answer.find("score")) result.back().score = score->as_double("score");
  }
  return result;
}

// What the decoder wrote, as transformers gives it: without the start, with the end.
std::vector<int64_t> written_ids(const Translation& translation) {
  std::vector<int64_t> ids = translation.result.inputs.decoder_input_ids;
  ids.erase(ids.begin());
  if (translation.complete) ids.push_back(0);
  return ids;
}

TEST(Translator, GreedySearchWritesWhatTransformersWrites) {
  std::vector<Answer> expected = translation_answers();
  ASSERT_EQ(expected.size(), 200U);
  expected.resize(support::cases(expected.size()));
  for (const Answer& answer : expected) {
    SCOPED_TRACE(answer.source);
    const Translation translation = translator().translate(answer.source, {.beams = 1});
    EXPECT_EQ(translation.result.inputs.input_ids, answer.ids);
    EXPECT_EQ(written_ids(translation), answer.greedy);
  }
}

TEST(Translator, BeamSearchWritesWhatTransformersWrites) {
  std::vector<Answer> expected = translation_answers();
  std::erase_if(expected, [](const Answer& answer) { return answer.beam.empty(); });
  ASSERT_EQ(expected.size(), 50U);
  expected.resize(support::cases(expected.size()));
  for (const Answer& answer : expected) {
    SCOPED_TRACE(answer.source);
    const Translation translation = translator().translate(answer.source, {.beams = 4});
    EXPECT_EQ(written_ids(translation), answer.beam);
    // Sums of some thirty logarithms in f32, each good to about 1e-6.
    EXPECT_NEAR(translation.score.value_or(1), answer.score, 2e-5);
  }
}

}  // namespace
}  // namespace fovea
