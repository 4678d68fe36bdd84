// Every folder of tests/data/parity is a test: a tiny random checkpoint and what transformers
// answers for it (tools/fixtures/make_fixture.py makes them and describes the files).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fovea/engine/engine.h"
#include "fovea/engine/input_file.h"
#include "fovea/io/safetensors.h"
#include "support/data.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// DESIGN: maps within 1e-5 of transformers' eager f32 result, outputs within 1e-4 of their largest.
constexpr double kMapTolerance = 1e-5;
constexpr double kOutputTolerance = 1e-4;

// NaN in the expected values means: not compared.
double largest_difference(std::span<const float> actual, std::span<const float> expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) continue;
    const double difference = std::abs(double{actual[i]} - double{expected[i]});
    if (!(difference <= largest)) largest = difference;  // NaN of ours too
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

double largest_magnitude(std::span<const float> values) {
  double largest = 1;
  for (const float value : values) {
    if (!std::isnan(value)) largest = std::max(largest, std::abs(double{value}));
  }
  return largest;
}

struct Errors {
  double maps = 0;
  double outputs = 0;
};

void compare_output(const Tensor& actual, const Tensor& expected, const std::string& name,
                    Errors& errors) {
  ASSERT_EQ(actual.shape(), expected.shape()) << name;
  const double error = largest_difference(actual.values<float>(), expected.values<float>()) /
                       largest_magnitude(expected.values<float>());
  EXPECT_LE(error, kOutputTolerance) << name;
  errors.outputs = std::max(errors.outputs, error);
}

// nullptr if it is no output's name.
const Value* output_named(const ModelOutputs& outputs, std::string_view name) {
  if (name == "last_hidden_state") return &outputs.last_hidden_state;
  if (name == "encoder_last_hidden_state") return &outputs.encoder_last_hidden_state;
  if (name == "text_last_hidden_state") return &outputs.text_last_hidden_state;
  if (name == "pooler_output") return &outputs.pooler_output;
  if (name == "image_embeds") return &outputs.image_embeds;
  if (name == "text_embeds") return &outputs.text_embeds;
  if (name == "pred_boxes") return &outputs.pred_boxes;
  if (name == "pred_masks") return &outputs.pred_masks;
  return name == "logits" ? &outputs.logits : nullptr;
}

void compare(const RunResult& result, const SafetensorsFile& expected, Errors& errors) {
  size_t maps = 0;
  for (const SafetensorsFile::Entry& entry : expected.entries()) {
    SCOPED_TRACE(entry.name);
    const Tensor tensor = expected.tensor(entry);
    if (const Value* output = output_named(result.outputs, entry.name)) {
      compare_output(output->tensor, tensor, entry.name, errors);
    } else {
      ++maps;
      const SiteId site = parse_site(entry.name);
      ASSERT_EQ(result.run.record(site)->shape().heads, tensor.size(0));
      for (int64_t head = 0; head < tensor.size(0); ++head) {
        const AttentionMap map = result.map(site, head);
        ASSERT_EQ(Shape({map.rows(), map.cols()}), Shape({tensor.size(1), tensor.size(2)}));
        const Tensor whole = map.tile(map.whole());
        const MatrixView<const float> wanted = tensor.matrix<float>(head);
        const double error = largest_difference(
            whole.values<float>(), {wanted.data, static_cast<size_t>(wanted.rows * wanted.cols)});
        EXPECT_LE(error, kMapTolerance) << "head " << head;
        errors.maps = std::max(errors.maps, error);
      }
    }
  }
  EXPECT_EQ(maps, result.run.records.size()) << "every site must be expected, and no other";
}

// A copy of the fixture whose config.json is `config`.
fs::path with_config(const fs::path& fixture, const fs::path& config) {
  const fs::path copy =
      fs::path(testing::TempDir()) / (fixture.filename().string() + "-" + config.stem().string());
  fs::remove_all(copy);
  fs::create_directories(copy);
  for (const auto& entry : fs::directory_iterator(fixture)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "config.json" ||
        entry.path().filename().string().ends_with(".index.json")) {
      fs::copy(entry.path(), copy / entry.path().filename());
    }
  }
  fs::copy_file(config, copy / "config.json", fs::copy_options::overwrite_existing);
  return copy;
}

Errors compare_cases(const fs::path& checkpoint, const fs::path& fixture) {
  Errors errors;
  const Engine engine = Engine::open(checkpoint.string());
  EXPECT_EQ(unknown_weights(engine.architecture(), engine.checkpoint().weights),
            std::vector<std::string>());
  for (int n = 0;; ++n) {
    const std::string suffix = n == 0 ? "" : "-" + std::to_string(n);
    const fs::path inputs = fixture / ("inputs" + suffix + ".safetensors");
    if (!fs::exists(inputs)) return errors;
    SCOPED_TRACE(inputs.filename().string());
    const RunResult result = engine.run(read_inputs(inputs), {.logits = LogitRows::kAll});
    validate(result.run);
    compare(result, SafetensorsFile::open(fixture / ("expected" + suffix + ".safetensors")),
            errors);
  }
}

std::vector<fs::path> all_fixtures() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(test_data("parity"))) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

class Parity : public testing::TestWithParam<fs::path> {};

TEST_P(Parity, EveryMapAndOutputMatchesTransformers) {
  const fs::path& fixture = GetParam();
  fs::path checkpoint = fixture;
  for (const char* file : {"whisper.pt", "model.gguf"}) {  // which stand for themselves
    if (fs::exists(fixture / file)) checkpoint = fixture / file;
  }
  const Errors errors = compare_cases(checkpoint, fixture);
  // Read by tools/write_supported_models.py for docs/supported-models.md.
  RecordProperty("maps", fmt::format("{:.1e}", errors.maps));
  RecordProperty("outputs", fmt::format("{:.1e}", errors.outputs));
  for (const auto& entry : fs::directory_iterator(fixture)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("config-") && name.ends_with(".json")) {
      SCOPED_TRACE(name);
      compare_cases(with_config(fixture, entry.path()), fixture);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Parity, testing::ValuesIn(all_fixtures()),
                         [](const auto& fixture) { return fixture.param.filename().string(); });

}  // namespace
}  // namespace fovea
