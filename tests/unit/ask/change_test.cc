// What changes in a run: against transformers' masked runs, against what a cut must leave alone,
// and against the run as it is.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ask_test_support.h"
#include "fovea/ask/changes.h"
#include "fovea/ask/outcomes.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/file.h"
#include "fovea/io/safetensors.h"
#include "support/errors.h"

namespace fovea {
namespace {

using support::fixture_session;
using support::question_of;
using support::result_of;

Session bundled_session(const char* model, PictureSize size) {
  const auto folder = test_data("../../models") / model;
  Input input{.what = PictureBytes{read_text_file(folder / "demo/scene-1.png"), "a scene"},
              .size = size};
  return Session::open(Engine::open(folder.lexically_normal().string()), std::move(input));
}

Session greedy_session(const char* text) {
  Input input{.what = Text{text}};
  input.translate.beams = 1;
  return Session::open(support::translation_engine(), std::move(input));
}

struct Numbers {
  std::vector<double> before, after;
};
Numbers outcomes_of(const Answer& answer) {
  Numbers numbers;
  const Json result = result_of(answer);
  for (const Json& group : result.at("outcomes", "").as_array("")) {
    for (const Json& row : group.at("rows", "").as_array("")) {
      numbers.before.push_back(row.at("before", "").as_double(""));
      numbers.after.push_back(row.at("after", "").as_double(""));
    }
  }
  return numbers;
}

// Panels of the answer's numbers: 0 before, 1 after.
Tensor map_of(const Answer& answer, int64_t panel) {
  const Tensor weights = numbers_of(answer).weights;
  const int64_t rows = weights.size(1), cols = weights.size(2);
  const auto all = weights.values<float>().subspan(static_cast<size_t>(panel * rows * cols),
                                                   static_cast<size_t>(rows * cols));
  return Tensor::from({rows, cols}, std::vector<float>(all.begin(), all.end()));
}

struct MaskedRun {
  const char* model;
  const char* number;  // of inputs-N and expected-N
  const char* hidden;  // positions that the mask hides
  const char* site;
  int64_t layers;
};

class HiddenPositions : public testing::TestWithParam<MaskedRun> {};

TEST_P(HiddenPositions, EqualTheMaskedRunOfTransformers) {
  const MaskedRun& masked = GetParam();
  const auto folder = parity_folder(masked.model);
  ModelInputs inputs = read_inputs(folder / fmt::format("inputs-{}.safetensors", masked.number));
  const bool causal = std::string(masked.site) == "self" && inputs.attention_mask.front() == 0;
  inputs.attention_mask.clear();
  Input input;
  input.what = inputs;
  const Session session = Session::open(Engine::open(folder.string()), std::move(input));
  const auto expected =
      SafetensorsFile::open(folder / fmt::format("expected-{}.safetensors", masked.number));
  for (int64_t layer = 0; layer < masked.layers; ++layer) {
    const Answer answer = session.ask(question_of(
        fmt::format("{{'kind': 'change', 'hide': [{}], 'site': '{}', 'layer': {}, 'head': 1}}",
                    masked.hidden, masked.site, layer)));
    const Tensor map = map_of(answer, 1);
    const Tensor wanted = expected.tensor(fmt::format("{}.{}", masked.site, layer));
    const MatrixView<const float> want = wanted.matrix<float>(1), have = map.matrix<float>();
    for (int64_t r = 0; r < want.rows; ++r) {
      if (causal && std::isnan(have(r, 0)) && std::isnan(have(r, r))) continue;  // sees nothing
      for (int64_t c = 0; c < want.cols; ++c) {
        const float weight = std::isnan(have(r, c)) ? 0 : have(r, c);
        EXPECT_NEAR(weight, want(r, c), 1e-5)
            << masked.model << " " << layer << " " << r << "," << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Change, HiddenPositions,
    testing::Values(MaskedRun{"bert_model", "4", "'#2', 5", "self", 2},
                    MaskedRun{"t5_encoder", "3", "0, 5", "self", 2},
                    MaskedRun{"gpt2_lm", "2", "0, 1, 2", "self", 2},
                    MaskedRun{"llama_gqa", "2", "0, 1, 2", "self", 2},
                    MaskedRun{"llama_gqa", "3", "9, 10, 11, 12", "self", 2},
                    MaskedRun{"gemma3_text", "1", "0, 1, 2", "self", 2},
                    MaskedRun{"distilbert_masked_lm", "1", "9, 10, 11, 12", "self", 2},
                    MaskedRun{"marian_mt", "3", "0, 4", "encoder_self", 1},
                    MaskedRun{"t5_lm", "3", "0, 4", "encoder_self", 1}),
    [](const auto& test) { return fmt::format("{}_{}", test.param.model, test.param.number); });

void expect_same(const Session& session, const std::string& more) {
  const Answer answer = session.ask(question_of("{'kind': 'change'" + more + "}"));
  const Numbers numbers = outcomes_of(answer);
  ASSERT_FALSE(numbers.before.empty());
  EXPECT_EQ(numbers.before, numbers.after);
  if (more.empty()) return;
  const Tensor maps = numbers_of(answer).weights;
  const auto all = maps.values<float>();
  const size_t half = all.size() / 2;
  EXPECT_EQ(std::memcmp(all.data(), all.data() + half, half * sizeof(float)), 0);
}

TEST(Change, WithNothingChangedTheAnswerIsTheSameBitForBit) {
  expect_same(fixture_session("gpt2_lm"), "");
  expect_same(fixture_session("gpt2_lm"), ", 'layer': 1, 'head': 2");
  expect_same(fixture_session("bert_model"), ", 'layer': 0, 'head': 'mean'");
  expect_same(fixture_session("bert_sequence"), "");
  expect_same(fixture_session("bert_tokens"), "");
  expect_same(fixture_session("t5_lm"), ", 'layer': 0, 'head': 0");
  expect_same(fixture_session("whisper_lm"), "");
  expect_same(fixture_session("clip_model"), "");
  expect_same(greedy_session("I love music."), ", 'layer': 1, 'head': 0");
  expect_same(bundled_session("scenes-vit", {64, 64}), ", 'layer': 1");
  expect_same(bundled_session("scenes-detr", {240, 192}), "");
}

TEST(Change, ACutEdgeIsTakenFromItsRowAloneWhichSumsToOneAgain) {
  const Session session = fixture_session("llama_gqa");
  const Answer answer =
      session.ask(question_of("{'kind': 'change', 'cut': ['6:2@0.1'], 'layer': 0, 'head': 1}"));
  const Tensor before = map_of(answer, 0), after = map_of(answer, 1);
  const auto was = before.matrix<float>(), is = after.matrix<float>();
  for (int64_t r = 0; r < was.rows; ++r) {
    for (int64_t c = 0; c <= r; ++c) {
      if (r != 6) {
        EXPECT_EQ(is(r, c), was(r, c)) << r << "," << c;
      } else if (c == 2) {
        EXPECT_EQ(is(r, c), 0);
      } else {
        EXPECT_NEAR(is(r, c), was(r, c) / (1 - was(6, 2)), 1e-6);
      }
    }
  }
}

TEST(Change, RowsThatCannotSeeACutEdgeKeepTheirMapsInEveryLayer) {
  const Session session = fixture_session("llama_gqa");
  bool changed = false;
  for (int layer = 0; layer < 2; ++layer) {
    const Answer answer = session.ask(question_of(
        fmt::format("{{'kind': 'change', 'cut': ['6:2'], 'layer': {}, 'head': 0}}", layer)));
    const Tensor before = map_of(answer, 0), after = map_of(answer, 1);
    const auto was = before.matrix<float>(), is = after.matrix<float>();
    for (int64_t r = 0; r < was.rows; ++r) {
      for (int64_t c = 0; c <= r; ++c) {
        if (r < 6) {
          EXPECT_EQ(is(r, c), was(r, c)) << layer << ": " << r << "," << c;
        }
        changed |= r > 6 && is(r, c) != was(r, c);
      }
    }
  }
  EXPECT_TRUE(changed) << "what the row hands on is another thing";
}

TEST(Change, HeadsAreSilencedScaledAndMadeEven) {
  const Session session = fixture_session("gpt2_lm");
  const auto after = [&](const char* change) {
    return outcomes_of(session.ask(question_of(fmt::format("{{'kind': 'change', {}}}", change))))
        .after;
  };
  EXPECT_EQ(after("'silence': ['1.2']"), after("'scale_head': ['1.2=0']"));
  EXPECT_NE(after("'silence': ['1.2']"), after("'scale_head': ['1.2=0.5']"));
  EXPECT_EQ(after("'scale_head': ['1.2=1']"), after("'layer': 0"));
  std::string each;
  for (int64_t h = 0; h < session.run()->run().records[1]->shape().heads; ++h) {
    each += fmt::format("{}'self.1.{}'", each.empty() ? "" : ", ", h);
  }
  EXPECT_EQ(after("'silence': ['1']"), after(fmt::format("'silence': [{}]", each).c_str()));
  const Answer even =
      session.ask(question_of("{'kind': 'change', 'even': ['1.2'], 'layer': 1, 'head': 2}"));
  const Tensor map = map_of(even, 1);
  for (int64_t r = 0; r < map.size(0); ++r) {
    EXPECT_NEAR(map.matrix<float>()(r, 0), 1.0 / static_cast<double>(r + 1), 1e-6);
  }
}

TEST(Change, SeveralChangesAreMadeAtOnce) {
  const Session session = fixture_session("gpt2_lm");
  const Answer both = session.ask(
      question_of("{'kind': 'change', 'hide': [3], 'silence': ['0.1'], 'cut': ['8:4', '7:2@1'], "
                  "'zero_value': [5]}"));
  EXPECT_EQ(result_of(both).at("changes", "").as_array("").size(), 5u);
  const Answer one = session.ask(question_of("{'kind': 'change', 'hide': [3]}"));
  EXPECT_NE(outcomes_of(both).after, outcomes_of(one).after);
  EXPECT_EQ(outcomes_of(both).before.front(), outcomes_of(one).before.front());
}

TEST(Change, ATranslationIsToldWordByWordAndAsItIsWrittenNow) {
  const Session session = greedy_session("I love music.");
  const Answer answer = session.ask(question_of("{'kind': 'change', 'hide': ['love']}"));
  const Json translation = result_of(answer).at("translation", "");
  EXPECT_EQ(translation.at("before", "").as_string(""), session.run()->translation.target);
  EXPECT_NE(translation.at("after", "").as_string(""), session.run()->translation.target);
  const Numbers words = outcomes_of(answer);
  EXPECT_LT(words.after[2], words.before[2]) << "what stood for the hidden word";
  // By the word that a step writes, not the one that it has read.
  const Answer cut = session.ask(question_of("{'kind': 'change', 'cut': ['musique:music']}"));
  const Json edge = result_of(cut).at("changes", "").as_array("").front();
  const Axis& target = *session.run()->run().find_axis("target");
  const auto row = static_cast<size_t>(edge.at("row", "").as_int(""));
  EXPECT_EQ(target.positions[row + 1].text, "·musique");
}

TEST(Change, ASearchThatReadsEveryTextAnewFindsWhatTheCacheFinds) {
  const Translator translator(support::translation_engine());
  for (const int64_t beams : {1, 3}) {
    const TranslateOptions how{.beams = beams};
    const std::string text = "The cat sat on the mat because it was tired.";
    const Translation plain = translator.translate(text, how);
    const std::vector<Intervention> nothing = {ScaleHead{{SiteKind::kCross, 0}, 0, 1},
                                               HidePosition{"target", 200}};
    const Translation reread = translator.translate(text, how, {.changes = nothing});
    EXPECT_EQ(reread.target, plain.target);
    if (beams > 1) {
      EXPECT_NEAR(*reread.score, *plain.score, 1e-5);
    }
  }
}

TEST(Change, AWordOfSeveralPiecesIsHiddenWhole) {
  const Session session = greedy_session("An unbelievable giraffe.");
  const Json changes =
      result_of(session.ask(question_of("{'kind': 'change', 'hide': ['unbelievable']}")))
          .at("changes", "");
  EXPECT_GT(changes.as_array("").size(), 1u);
}

TEST(Change, PatchesAreHiddenAndBlankByTheirPixels) {
  const Session session = bundled_session("scenes-vit", {64, 64});
  const auto ask = [&](const char* change) {
    return session.ask(parse_question(
        support::json_of(fmt::format("{{'kind': 'change', {}}}", change)), RunSort::kPicture));
  };
  const Answer at = ask("'hide_at': [[100, 100], [200, 150]]");
  EXPECT_EQ(result_of(at).at("changes", "").as_array("").size(), 2u);
  const std::string name =
      result_of(at).at("changes", "").as_array("").front().at("text", "").as_string("");
  EXPECT_TRUE(name.starts_with("patch")) << name;
  EXPECT_NE(outcomes_of(ask("'blank_at': [[100, 100]]")).after, outcomes_of(at).after);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"hide_at"}, "outside of the picture",
                         [&] { ask("'hide_at': [[100000, 1]]"); }));
}

TEST(Change, ObjectsAreComparedByTheirQueries) {
  const Session session = bundled_session("scenes-detr", {240, 192});
  const Answer answer = session.ask(parse_question(
      support::json_of("{'kind': 'change', 'silence': ['cross.0', 'cross.1'], 'threshold': 0.5}"),
      RunSort::kObjects));
  const Json objects = result_of(answer).at("outcomes", "").as_array("").front();
  ASSERT_FALSE(objects.at("rows", "").as_array("").empty());
  bool less = false;
  for (const Json& row : objects.at("rows", "").as_array("")) {
    EXPECT_EQ(row.at("box_before", "").as_array("").size(), 4u);
    less |= row.at("after", "").as_double("") < row.at("before", "").as_double("");
  }
  EXPECT_TRUE(less);
}

TEST(Change, WhatCannotBeChangedIsToldWithItsField) {
  const Session session = fixture_session("gpt2_lm");
  const auto refused = [&](const char* change, const char* field, std::string_view why) {
    return fails_with(ErrorKind::kInvalidArgument, Field{field}, why, [&] {
      session.ask(question_of(fmt::format("{{'kind': 'change', {}}}", change)));
    });
  };
  EXPECT_TRUE(refused("'hide': [99]", "hide", "there are"));
  EXPECT_TRUE(refused("'cut': ['1']", "cut", "is no edge"));
  EXPECT_TRUE(refused("'cut': ['1:99']", "cut", "99"));
  EXPECT_TRUE(refused("'cut': ['2:1@9']", "cut", "layer 9 is asked for"));
  EXPECT_TRUE(refused("'silence': ['0.99']", "silence", "head 99 is asked for"));
  EXPECT_TRUE(refused("'silence': ['x']", "silence", "is no head"));
  EXPECT_TRUE(refused("'silence': ['cross.0']", "silence", "no cross-attention"));
  EXPECT_TRUE(refused("'scale_head': ['0.1']", "scale_head", "LAYER.HEAD=FACTOR"));
  EXPECT_TRUE(refused("'scale_head': ['0.1=nan']", "scale_head", "LAYER.HEAD=FACTOR"));
  EXPECT_TRUE(refused("'hide_at': [[1, 2]]", "hide_at", "pixel of a picture"));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "captured run", [] {
    support::captured_session().ask(question_of("{'kind': 'change', 'hide': [1]}"));
  }));
}

}  // namespace
}  // namespace fovea
