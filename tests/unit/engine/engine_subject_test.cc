#include "fovea/engine/engine_subject.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/atlas/attention_map.h"
#include "fovea/engine/changed_inputs.h"
#include "fovea/engine/input_file.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

struct SubjectFixture {
  explicit SubjectFixture(const char* name)
      : engine(Engine::open(parity_folder(name).string())),
        inputs(read_inputs(parity_folder(name) / "inputs.safetensors")) {}

  Tensor logits(const std::vector<Intervention>& changes) {
    EngineSubject subject(engine, engine.label(inputs), LogitRows::kAll);
    return subject.run(changes, RecorderOptions::nothing()).logits;
  }

  Engine engine;
  ModelInputs inputs;
};

// The same arithmetic in another order at most.
void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (size_t i = 0; i < a.values<float>().size(); ++i) {
    ASSERT_NEAR(a.values<float>()[i], b.values<float>()[i], 1e-6) << i;
  }
}

bool differ(const Tensor& a, const Tensor& b) {
  return !std::ranges::equal(a.values<float>(), b.values<float>());
}

TEST(EngineSubject, KeepsWhatIsAskedFor) {
  SubjectFixture fixture("bert_sequence");
  EngineSubject subject(fixture.engine, fixture.engine.label(fixture.inputs), LogitRows::kAll);
  const SubjectOutput plain = subject.run({}, RecorderOptions::nothing());
  EXPECT_TRUE(plain.records.empty());
  EXPECT_FALSE(plain.logits.empty());
  EXPECT_EQ(plain.embedding.elements(), fixture.engine.facts().main.width);
  EXPECT_EQ(static_cast<int64_t>(subject.run({}, {}).records.size()),
            fixture.engine.facts().main.layers);
}

TEST(EngineSubject, HidesAPositionAsPaddingIsHidden) {
  for (const char* name : {"bert_sequence", "roberta_sequence", "distilbert_sequence"}) {
    SubjectFixture fixture(name);
    const Tensor clean = fixture.logits({});
    const Tensor hidden = fixture.logits({HidePosition{"tokens", 2}});
    ASSERT_TRUE(fixture.inputs.attention_mask.empty() ||
                std::ranges::count(fixture.inputs.attention_mask, 0) == 0);
    fixture.inputs.attention_mask.assign(fixture.inputs.input_ids.size(), 1);
    fixture.inputs.attention_mask[2] = 0;
    expect_same(hidden, fixture.logits({}));
    EXPECT_TRUE(differ(hidden, clean)) << name;
  }
}

TEST(EngineSubject, HidesASourceFromTheEncoderAndTheDecoder) {
  SubjectFixture fixture("marian_mt");
  const Tensor clean = fixture.logits({});
  const Tensor hidden = fixture.logits({HidePosition{"source", 1}});
  fixture.inputs.attention_mask.assign(fixture.inputs.input_ids.size(), 1);
  fixture.inputs.attention_mask[1] = 0;
  expect_same(hidden, fixture.logits({}));
  EXPECT_TRUE(differ(hidden, clean));
}

TEST(EngineSubject, ABlankPatchIsTheMeanColour) {
  SubjectFixture fixture("vit_image");
  const Axis axis = fixture.engine.label(fixture.inputs).patches;
  const auto patches = axis.grid_rows * axis.grid_cols;
  const int64_t front = static_cast<int64_t>(axis.positions.size()) - patches;
  const int64_t row = axis.grid_rows - 1, col = axis.grid_cols / 2;
  const Tensor blank =
      fixture.logits({BlankPosition{"patches", front + row * axis.grid_cols + col}});
  Tensor pixels = fixture.inputs.pixel_values.clone();
  const PictureFacts& facts = *fixture.engine.facts().picture;
  for (int64_t channel = 0; channel < pixels.size(0); ++channel) {
    for (int64_t y = 0; y < facts.patch_height; ++y) {
      for (int64_t x = 0; x < facts.patch_width; ++x) {
        pixels.mutable_matrix<float>(channel)(row * facts.patch_height + y,
                                              col * facts.patch_width + x) = 0;
      }
    }
  }
  fixture.inputs.pixel_values = pixels;
  expect_same(blank, fixture.logits({}));
}

TEST(EngineSubject, RefusesWhatItCannotBlank) {
  SubjectFixture text("bert_sequence"), picture("vit_image");
  EXPECT_THROW(text.logits({BlankPosition{"tokens", 1}}), Error);      // there is no tokenizer
  EXPECT_THROW(picture.logits({BlankPosition{"patches", 0}}), Error);  // [CLS]
  EXPECT_THROW(picture.logits({BlankPosition{"patches", 100000}}), Error);
}

TEST(EngineSubject, ACutEdgeChangesOnlyTheRowsThatCanSeeIt) {
  SubjectFixture fixture("bert_sequence");
  EngineSubject subject(fixture.engine, fixture.engine.label(fixture.inputs), LogitRows::kAll);
  const SiteId first{SiteKind::kSelf, 0}, next{SiteKind::kSelf, 1};
  const auto map = [&](const std::vector<Intervention>& changes, SiteId site, int64_t head) {
    const SubjectOutput output = subject.run(changes, {});
    const auto record =
        std::ranges::find(output.records, site, [](const auto& each) { return each->site; });
    const AttentionMap found(*record, head);
    return found.tile(found.whole());
  };
  const HideEdge edge{.site = first, .row = 2, .col = 1, .head = 0};
  const Tensor before = map({}, first, 0), after = map({edge}, first, 0);
  const MatrixView<const float> plain = before.matrix<float>(), cut = after.matrix<float>();
  EXPECT_EQ(cut(2, 1), 0);
  double sum = 0;
  for (int64_t j = 0; j < cut.cols; ++j) sum += double{cut(2, j)};
  EXPECT_NEAR(sum, 1, 1e-5) << "the others share what it had";
  // The rest of its row is scaled by the same number; other rows and heads are as they were.
  EXPECT_NEAR(double{cut(2, 0)} * (1 - double{plain(2, 1)}), double{plain(2, 0)}, 1e-5);
  for (int64_t i = 0; i < cut.rows; ++i) {
    for (int64_t j = 0; i != 2 && j < cut.cols; ++j) EXPECT_EQ(cut(i, j), plain(i, j));
  }
  EXPECT_TRUE(
      std::ranges::equal(map({edge}, first, 1).values<float>(), map({}, first, 1).values<float>()));
  // One layer later the row is another, and everybody who looks at it.
  EXPECT_FALSE(
      std::ranges::equal(map({edge}, next, 0).values<float>(), map({}, next, 0).values<float>()));
}

}  // namespace
}  // namespace fovea
