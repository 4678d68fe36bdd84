// Maps under --dtype i16, whose products are of 16-bit numbers, and what they may lose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/file.h"
#include "fovea/engine/check_maps.h"
#include "fovea/engine/input_file.h"
#include "fovea/engine/picture_input.h"
#include "fovea/kernels/dot16.h"
#include "fovea/vision/decode.h"
#include "support/data.h"
#include "support/fixture_models.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

struct MapsFixture {
  explicit MapsFixture(std::string_view name, DType compute)
      : engine(Engine::open(parity_folder(name).string(), {.compute = compute})),
        input(engine.label(read_inputs(parity_folder(name) / "inputs.safetensors"))) {}

  Engine engine;
  EncodedInput input;
};

// What docs/numerics.md says of i16.
constexpr double kI16Tolerance = 2e-2;

// What a row gives to its head's sink logit, which is no column of the map.
double share_of_sink(const AttentionMap& map, int64_t row) {
  const AttentionRecord& record = map.record();
  if (record.rule.sink_logit.empty()) return 0;
  const double lse =
      record.lse.values<double>()[static_cast<size_t>(map.head() * record.shape().rows + row)];
  return std::exp(double{record.rule.sink_logit[static_cast<size_t>(map.head())]} - lse);
}

// The largest distance of two weights. Also holds every row of `found` to a sum of 1: the record
// holds the rounded numbers, so that only f32 sums are in between.
double distance(const RunResult& found, const RunResult& expected, double row_tolerance) {
  double worst = 0;
  EXPECT_EQ(found.run.records.size(), expected.run.records.size());
  for (size_t i = 0; i < found.run.records.size(); ++i) {
    SCOPED_TRACE(to_string(found.run.records[i]->site));
    for (int64_t head = 0; head < found.run.records[i]->shape().heads; ++head) {
      const AttentionMap map(found.run.records[i], head);
      const Tensor own = map.tile(map.whole());
      const Tensor other = AttentionMap(expected.run.records[i], head).tile(map.whole());
      for (size_t cell = 0; cell < own.values<float>().size(); ++cell) {
        worst = std::max(worst, std::abs(double{own.values<float>()[cell]} -
                                         double{other.values<float>()[cell]}));
      }
      // There the heads sum to 1 together.
      if (found.run.records[i]->site.kind == SiteKind::kPanoptic) continue;
      for (int64_t row = 0; row < map.rows(); ++row) {
        const float* weights = own.matrix<float>().row(row);
        const double sum = std::accumulate(weights, weights + map.cols(), 0.0);
        if (sum == 0) continue;  // sees nothing
        EXPECT_NEAR(sum + share_of_sink(map, row), 1, row_tolerance) << "row " << row;
      }
    }
  }
  return worst;
}

// All of them have larger weights and sharper maps than trained models do. With products of bf16
// numbers throughout, 20 of 132 were beyond 2e-2.
TEST(I16Maps, OfEveryFixtureAreWithin2e2OfF32AndTheirRowsSumToOne) {
  int64_t fixtures = 0;
  for (const auto& folder : std::filesystem::directory_iterator(parity_folder(""))) {
    const std::string name = folder.path().filename().string();
    if (!file_exists(folder.path() / "config.json")) continue;
    SCOPED_TRACE(name);
    const MapsFixture exact(name, DType::kF32), rounded(name, DType::kI16);
    const double found =
        distance(rounded.engine.run(rounded.input), exact.engine.run(exact.input), 1e-4);
    EXPECT_LE(found, kI16Tolerance);
    ++fixtures;
  }
  EXPECT_GE(fixtures, 130);
}

std::filesystem::path bundled_model(std::string_view name) {
  return test_data("../../models") / name;
}

// The detector's scores reach 128, and a weight is good to 1e-6 (1 + |score|).
TEST(I16Maps, OfBundledPictureModelsAreWithin2e2OfF32) {
  for (const char* model : {"scenes-detr", "scenes-vit"}) {
    const std::filesystem::path folder = bundled_model(model);
    const Engine exact = Engine::open(folder.string());
    const Engine rounded = Engine::open(folder.string(), {.compute = DType::kI16});
    for (const char* name : {"scene-1.png", "scene-2.png", "scene-3.png"}) {
      SCOPED_TRACE(fmt::format("{} {}", model, name));
      const PictureInput input = picture_input(exact, read_picture(folder / "demo" / name).picture);
      const double found = distance(run_picture(rounded, input), run_picture(exact, input), 1.3e-4);
      EXPECT_LE(found, kI16Tolerance);
      EXPECT_EQ(found > 0, has_i16_dot());
      if (support::kSanitized) break;
    }
  }
}

TEST(I16Maps, CheckOut) {
  const MapsFixture fixture("bert_model", DType::kI16);
  const MapCheck check = check_maps(fixture.engine, fixture.input);
  EXPECT_TRUE(check.passed()) << check.row_sum_error << " " << check.output_error;
}

TEST(I16Maps, OfPackedTextsAreThoseOfTheTextAlone) {
  const MapsFixture fixture("bert_model", DType::kI16);
  const RunResult alone = fixture.engine.run(fixture.input);
  const std::vector<EncodedInput> texts{fixture.input};
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
      // Keys of all texts of a pass share a unit.
      ASSERT_NEAR(own.values<float>()[cell], other.values<float>()[cell], 1e-3);
    }
  }
}

TEST(I16Maps, ACutEdgeChangesItsRowOnly) {
  const MapsFixture fixture("bert_model", DType::kI16);
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
