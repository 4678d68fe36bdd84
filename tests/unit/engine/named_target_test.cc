#include "fovea/engine/named_target.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/engine/input_file.h"
#include "support/errors.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

struct Asked {
  explicit Asked(const char* name) : engine(Engine::open(parity_folder(name).string())) {
    RunOptions options;
    options.logits = LogitRows::kAll;
    result = engine.run(read_inputs(parity_folder(name) / "inputs.safetensors"), options);
  }

  NamedTarget target(const TargetChoice& choice) const {
    return named_target(engine, result, choice);
  }
  std::span<const float> logits() const { return result.outputs.logits.tensor.values<float>(); }

  Engine engine;
  RunResult result;
};

// With all of these in its one line.
template <typename Work>
void expect_refused(const std::vector<std::string>& parts, const Work& work) {
  for (const std::string& part : parts) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, part, work));
  }
}

int64_t best(std::span<const float> logits) {
  return std::ranges::max_element(logits) - logits.begin();
}

TEST(NamedTarget, IsWhatTheModelAnswersUnlessNamed) {
  const Asked asked("bert_sequence");
  EXPECT_EQ(std::get<ClassTarget>(asked.target({}).target).index, best(asked.logits()));
  EXPECT_EQ(std::get<ClassTarget>(asked.target({.name = "1"}).target).index, 1);
}

TEST(NamedTarget, SaysTheRangeOfClassesThatThereAre) {
  const Asked asked("bert_sequence");
  const auto last = std::to_string(asked.logits().size() - 1);
  for (const char* name : {"99", "-1", "joy", ""}) {
    expect_refused({name, "0 to " + last}, [&] { asked.target({.name = name}); });
  }
}

TEST(NamedTarget, OfEveryPositionIsOneOfItsRow) {
  for (const char* name : {"bert_tokens", "gpt2_lm", "marian_mt"}) {
    SCOPED_TRACE(name);
    const Asked asked(name);
    const MatrixView<const float> rows = asked.result.outputs.logits.tensor.matrix<float>();
    const auto target = std::get<TokenTarget>(asked.target({.name = {}, .position = 1}).target);
    EXPECT_EQ(target.position, 1);
    if (std::string_view(name) == "marian_mt") {  // what it was made to write
      EXPECT_EQ(target.token, asked.result.inputs.decoder_input_ids[2]);
    } else {
      EXPECT_EQ(target.token, best({rows.row(1), static_cast<size_t>(rows.cols)}));
    }
    expect_refused({"position", "0 to"}, [&] { asked.target({.position = 4000}); });
  }
}

TEST(NamedTarget, TakesWordsByNumberWhereThereIsNoTokenizer) {
  const Asked asked("gpt2_lm");
  EXPECT_EQ(std::get<TokenTarget>(asked.target({.name = "#7"}).target).token, 7);
  const auto last = fmt::format("#{}", asked.result.outputs.logits.tensor.size(1) - 1);
  for (const char* name : {"#100000", "cat"}) {
    expect_refused({name, last}, [&] { asked.target({.name = name}); });
  }
}

TEST(NamedTarget, OfADetectorIsTheSurestObjectAndNeverNoObject) {
  const Asked asked("detr_objects");
  const MatrixView<const float> rows = asked.result.outputs.logits.tensor.matrix<float>();
  for (int64_t query = 0; query < rows.rows; ++query) {
    const auto box = std::get<BoxTarget>(asked.target({.query = query}).target);
    EXPECT_EQ(box.query, query);
    EXPECT_EQ(box.index, best({rows.row(query), static_cast<size_t>(rows.cols - 1)}));
  }
  const auto found = std::get<BoxTarget>(asked.target({}).target);
  EXPECT_GE(found.query, 0);
  EXPECT_LT(found.query, rows.rows);
  expect_refused({"query 5000", "0 to " + std::to_string(rows.rows - 1)},
                 [&] { asked.target({.query = 5000}); });
  expect_refused({"0 to " + std::to_string(rows.cols - 2)},
                 [&] { asked.target({.name = std::to_string(rows.cols - 1)}); });
}

TEST(NamedTarget, OfAModelWithoutAHeadIsItsOwnEmbedding) {
  const Asked asked("bert_model");
  const NamedTarget own = asked.target({});
  EXPECT_EQ(std::ssize(std::get<SimilarityTarget>(own.target).against),
            asked.engine.facts().main.width);
}

TEST(NamedTarget, OfAnEmbeddingIsAValueAndNoFileIsOpenedByItsName) {
  const Asked asked("vit_model");
  const std::string file = (test_data("../../models") / "scenes-vit/demo/scene-1.png").string();
  expect_refused({file, "is a text", "give a picture"}, [&] { asked.target({.name = file}); });
  const NamedTarget other =
      asked.target({.name = "scene-1.png", .similar_to = asked.engine.label(asked.result.inputs)});
  EXPECT_EQ(std::get<SimilarityTarget>(other.target).against,
            std::get<SimilarityTarget>(asked.target({}).target).against);
  EXPECT_EQ(other.name, "similarity to “scene-1.png”");
}

TEST(NamedTarget, NeedsOnlyTheLogitsThatAreAskedAbout) {
  EXPECT_EQ(logits_for_target(Asked("gpt2_lm").engine, true), LogitRows::kLast);
  EXPECT_EQ(logits_for_target(Asked("gpt2_lm").engine, false), LogitRows::kAll);
  EXPECT_EQ(logits_for_target(Asked("bert_model").engine, true), LogitRows::kNone);
}

}  // namespace
}  // namespace fovea
