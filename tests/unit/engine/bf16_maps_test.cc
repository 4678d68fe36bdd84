// Maps of models whose products are of bf16 numbers, and what they are allowed to lose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/file.h"
#include "fovea/engine/check_maps.h"
#include "fovea/engine/input_file.h"
#include "fovea/engine/picture_input.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

constexpr const char* kFixtures[] = {"bert_model",     "gpt2_lm",   "llama_gqa", "gemma3_softcap",
                                     "mistral_window", "t5_lm",     "vit_image", "dinov3_model",
                                     "clip_model",     "whisper_lm"};

struct Fixture {
  explicit Fixture(std::string_view name, DType compute)
      : engine(Engine::open(parity_folder(name).string(), {.compute = compute})),
        input(engine.label(read_inputs(parity_folder(name) / "inputs.safetensors"))) {}

  Engine engine;
  TextInput input;
};

struct Distance {
  double worst = 0;   // of two weights
  double beyond = 0;  // the part of all weights that are more than 2e-2 off
};

// Also holds every row of `found` to a sum of 1. The record holds the rounded numbers, so that only
// f32 sums are in between.
Distance distance(const RunResult& found, const RunResult& expected, double row_tolerance) {
  Distance result;
  int64_t beyond = 0, all = 0;
  EXPECT_EQ(found.run.records.size(), expected.run.records.size());
  for (size_t i = 0; i < found.run.records.size(); ++i) {
    SCOPED_TRACE(to_string(found.run.records[i]->site));
    for (int64_t head = 0; head < found.run.records[i]->shape().heads; ++head) {
      const AttentionMap map(found.run.records[i], head);
      const Tensor own = map.tile(map.whole());
      const Tensor other = AttentionMap(expected.run.records[i], head).tile(map.whole());
      for (size_t cell = 0; cell < own.values<float>().size(); ++cell) {
        const double off =
            std::abs(double{own.values<float>()[cell]} - double{other.values<float>()[cell]});
        result.worst = std::max(result.worst, off);
        beyond += off > 2e-2 ? 1 : 0;
      }
      all += own.elements();
      // There the heads sum to 1 together.
      if (found.run.records[i]->site.kind == SiteKind::kPanoptic) continue;
      for (int64_t row = 0; row < map.rows(); ++row) {
        const float* weights = own.matrix<float>().row(row);
        const double sum = std::accumulate(weights, weights + map.cols(), 0.0);
        if (sum == 0) continue;  // sees nothing
        EXPECT_NEAR(sum, 1, row_tolerance) << "row " << row;
      }
    }
  }
  result.beyond = static_cast<double>(beyond) / static_cast<double>(all);
  return result;
}

TEST(Bf16Maps, AreWithin2e2OfF32AndTheirRowsSumToOne) {
  for (const char* name : kFixtures) {
    SCOPED_TRACE(name);
    const Fixture exact(name, DType::kF32), rounded(name, DType::kBF16);
    const Distance found =
        distance(rounded.engine.run(rounded.input), exact.engine.run(exact.input), 1e-5);
    EXPECT_LE(found.worst, 2e-2);  // what docs/numerics.md says of bf16
  }
}

// All of them have larger weights and sharper maps than trained models do. Nine tenths of those
// without convolutions were within 2e-2, and none was beyond 3.6e-2.
TEST(Bf16Maps, OfEveryFixtureAreNearAndMostAreWithin2e2) {
  int64_t near = 0, all = 0;
  for (const auto& folder : std::filesystem::directory_iterator(parity_folder(""))) {
    const std::string name = folder.path().filename().string();
    if (!file_exists(folder.path() / "config.json")) continue;
    SCOPED_TRACE(name);
    const Fixture exact(name, DType::kF32), rounded(name, DType::kBF16);
    const Distance found =
        distance(rounded.engine.run(rounded.input), exact.engine.run(exact.input), 1e-4);
    if (exact.engine.facts().finds_objects()) {
      EXPECT_LE(found.worst, 0.15);
      continue;
    }
    EXPECT_LE(found.worst, 5e-2);
    ++all;
    near += found.worst <= 2e-2 ? 1 : 0;
  }
  EXPECT_GE(all, 100);
  EXPECT_GE(near, all * 9 / 10) << "of " << all;
}

// Its convolutions are in bf16 too, and its decoder decides sharply: a few weights swing.
TEST(Bf16Maps, OfTheBundledDetectorAreWithin2e2ButForOneWeightIn100000) {
  const std::filesystem::path folder =
      std::filesystem::path(FOVEA_TEST_DATA) / "../../models/scenes-detr";
  const Engine exact = Engine::open(folder.string());
  const Engine rounded = Engine::open(folder.string(), {.compute = DType::kBF16});
  for (const char* name : {"scene-1.png", "scene-5.png"}) {
    SCOPED_TRACE(name);
    const PictureInput input = read_picture_input(exact, folder / "demo" / name);
    // Scores reach 128, and a weight is good to 1e-6 (1 + |score|).
    const Distance found = distance(run_picture(rounded, input), run_picture(exact, input), 1.3e-4);
    // Three in a million were found; with states in bf16 too, as PyTorch has them, over thirty are.
    EXPECT_LE(found.beyond, 1e-5);
    EXPECT_GT(found.worst, 0);
  }
}

TEST(Bf16Maps, CheckOut) {
  const Fixture fixture("bert_model", DType::kBF16);
  const MapCheck check = check_maps(fixture.engine, fixture.input);
  EXPECT_TRUE(check.passed()) << check.row_sum_error << " " << check.output_error;
}

TEST(Bf16Maps, OfPackedTextsAreThoseOfTheTextAlone) {
  const Fixture fixture("bert_model", DType::kBF16);
  const RunResult alone = fixture.engine.run(fixture.input);
  const std::vector<TextInput> texts{fixture.input};
  std::vector<AttentionRecord> packed;
  fixture.engine.run_packed(
      texts, {.give_to = [&](int64_t, AttentionRecord record) { packed.push_back(record); }});
  ASSERT_EQ(packed.size(), alone.run.records.size());
  for (size_t i = 0; i < packed.size(); ++i) {
    const auto record = std::make_shared<const AttentionRecord>(packed[i]);
    const AttentionMap map(record, 0);
    const Tensor own = map.tile(map.whole());
    const Tensor other = AttentionMap(alone.run.records[i], 0).tile(map.whole());
    for (size_t cell = 0; cell < own.values<float>().size(); ++cell) {
      // Products of other sizes may be added up in another order, and then round otherwise.
      ASSERT_NEAR(own.values<float>()[cell], other.values<float>()[cell], 1e-2);
    }
  }
}

TEST(Bf16Maps, ACutEdgeChangesItsRowOnly) {
  const Fixture fixture("bert_model", DType::kBF16);
  const auto states = [&](std::vector<Intervention> changes) {
    return fixture.engine
        .run(fixture.input,
             {.record = {.wanted = [](SiteId) { return false; }}, .changes = std::move(changes)})
        .outputs.last_hidden_state.tensor;
  };
  const auto last = static_cast<int>(fixture.engine.facts().attentions() - 1);
  const SiteId site{SiteKind::kSelf, last};
  const Tensor plain = states({}), cut = states({HideEdge{site, 1, 2}});
  for (int64_t row = 0; row < plain.size(0); ++row) {
    const bool same =
        std::ranges::equal(std::span(plain.matrix<float>().row(row), size_t(plain.size(1))),
                           std::span(cut.matrix<float>().row(row), size_t(plain.size(1))));
    EXPECT_EQ(same, row != 1) << "row " << row;
  }
}

}  // namespace
}  // namespace fovea
