#include "fovea/engine/engine_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "fovea/engine/embedding.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/engine/input_file.h"
#include "fovea/engine/text_axis.h"
#include "fovea/explain/input_sums.h"
#include "fovea/explain/target.h"
#include "fovea/io/npz.h"
#include "support/compare.h"
#include "support/data.h"
#include "support/fixture_models.h"
#include "support/random.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::largest_magnitude;
using fovea::support::random_floats;
using fovea::support::to_doubles;

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(parity_folder(""))) {
    const std::string name = entry.path().filename().string();
    if (!std::filesystem::exists(entry.path() / "inputs.safetensors") ||
        !std::filesystem::exists(entry.path() / "config.json")) {
      continue;
    }
    // Detectors take longest; these are the kinds of trunks and positions there are.
    constexpr std::array<std::string_view, 4> kDetectors{"detr_objects", "detr_dc5_basic",
                                                         "detr_learned", "detr_timm_resnet50"};
    if (name.starts_with("detr_") && std::ranges::count(kDetectors, name) == 0) continue;
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

struct GradientFixture {
  explicit GradientFixture(const std::string& name)
      : engine(Engine::open(parity_folder(name).string())),
        input(engine.label(read_inputs(parity_folder(name) / "inputs.safetensors"))),
        subject(engine, input, LogitRows::kAll) {}
  GradientFixture(const std::filesystem::path& model, EncodedInput given)
      : engine(Engine::open(model.string())),
        input(std::move(given)),
        subject(engine, input, LogitRows::kAll) {}

  SubjectOutput plain(const std::vector<Intervention>& changes = {}) {
    return subject.run(changes, RecorderOptions::nothing());
  }
  SubjectGradient gradient(const GradientRequest& request) {
    return engine_gradient(engine, input, request);
  }
  bool has_kinks() const {
    return engine.checkpoint().config.json().dump().find("relu") != std::string::npos ||
           engine.facts().finds_objects();
  }
  double value_at(const Target& target, const std::string& name, const Tensor& numbers) {
    return gradient({.target = target, .inputs = false, .record = {}, .at = {{name, numbers}}})
        .value;
  }

  Engine engine;
  EncodedInput input;
  EngineSubject subject;
};

// One number of what the model gives, that all of its input has a part in.
Target gradient_target(GradientFixture& fixture) {
  const SubjectOutput plain = fixture.plain();
  switch (fixture.engine.facts().head) {
    case HeadKind::kNone:
      return SimilarityTarget{random_floats(plain.embedding.elements(), 7)};
    case HeadKind::kMaskedLm:
    case HeadKind::kCausalLm:
    case HeadKind::kTargetWords:
      return TokenTarget{plain.logits.size(0) - 1, 3};
    case HeadKind::kTokenClass:
      if (plain.logits.rank() == 1) return ClassTarget{1};  // ELECTRA's: one logit for each token
      return TokenTarget{plain.logits.size(0) - 1, 1};
    case HeadKind::kObjects:
      return BoxTarget{1, 1};
    case HeadKind::kSimilarity:
      return ClassTarget{0};
    default:
      return ClassTarget{1};
  }
}

double length_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += double{value} * double{value};
  return std::sqrt(sum);
}

// f'(0) from four values: the error is of order step^4, so that the step may be large enough for
// f32 to see the difference.
double slope(const std::function<double(float)>& f, float step) {
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * double{step});
}

// Small steps drown in the rounding of f32: 1e-7 of logits near 1, some 1e-4 of slopes near 1 at
// the smallest. Large ones cross the kinks of ReLU, and some lie nearer than the smallest: there a
// few hundredths are allowed, for autograd below says the rest. A right gradient is met by one
// step, a wrong one by none.
void expect_slope(const std::function<double(float)>& f, double expected, double scale,
                  bool has_kinks) {
  const double tolerance = has_kinks ? 4e-2 : 1e-3;
  double best = std::numeric_limits<double>::infinity();
  for (const float step : {2e-2F, 5e-3F, 1e-1F, 1e-3F}) {
    best = std::min(best, std::abs(slope(f, step) - expected));
    if (best <= tolerance * scale) return;
  }
  ADD_FAILURE() << "the gradient says " << expected << ", differences are " << best
                << " off, among slopes up to " << scale;
}

class GradientOf : public ::testing::TestWithParam<std::string> {};

void expect_inputs_are_differences(GradientFixture& fixture) {
  const Target target = gradient_target(fixture);
  const SubjectGradient found = fixture.gradient({.target = target, .record = {}, .at = {}});
  // The same arithmetic, without the fusion of activations and residuals.
  EXPECT_NEAR(found.value, target_value(target, fixture.plain(), TargetMeasure::kLogit), 2e-5);
  ASSERT_FALSE(found.inputs.empty());
  for (const InputGradient& input : found.inputs) {
    SCOPED_TRACE(input.name);
    ASSERT_EQ(input.values.shape(), input.gradient.shape());
    const std::span<const float> gradient = input.gradient.values<float>();
    for (uint64_t seed = 0; seed < support::cases(4); ++seed) {
      // The gradient's own direction, and three random ones, of length 1.
      std::vector<float> direction = random_floats(input.values.elements(), 40 + seed);
      if (seed == 0) direction.assign(gradient.begin(), gradient.end());
      const double length = length_of(direction);
      double expected = 0;
      for (size_t i = 0; i < direction.size(); ++i) {
        direction[i] /= static_cast<float>(length);
        expected += double{direction[i]} * double{gradient[i]};
      }
      expect_slope(
          [&](float step) {
            Tensor moved = input.values.clone();
            for (size_t i = 0; i < direction.size(); ++i) {
              moved.mutable_values<float>()[i] += step * direction[i];
            }
            return fixture.value_at(target, input.name, moved);
          },
          expected, length_of(gradient), fixture.has_kinks());
    }
  }
}

TEST_P(GradientOf, InputsAreCentralDifferences) {
  GradientFixture fixture(GetParam());
  expect_inputs_are_differences(fixture);
}

// d logit / d factor of a head, at 1.
double product_of_head(const AttentionRecord& record, int64_t head) {
  const MatrixView<const float> output = record.output.matrix<float>(head);
  const MatrixView<const float> gradient = record.output_gradient.matrix<float>(head);
  double sum = 0;
  for (int64_t r = 0; r < output.rows; ++r) {
    for (int64_t c = 0; c < output.cols; ++c) sum += double{output(r, c)} * double{gradient(r, c)};
  }
  return sum;
}

void expect_head_outputs_are_slopes(GradientFixture& fixture) {
  const Target target = gradient_target(fixture);
  const SubjectGradient found = fixture.gradient(
      {.target = target, .inputs = false, .record = RecorderOptions{.outputs = true}, .at = {}});
  EXPECT_TRUE(found.inputs.empty());
  const ModelFacts& facts = fixture.engine.facts();
  // Neither masks nor, of a classifier, what the pooling head gives have a part in the logit.
  const bool pools_aside = facts.pools_by_attention() && facts.head == HeadKind::kPictureClass;
  EXPECT_EQ(static_cast<int64_t>(found.records.size()),
            facts.attentions() - (facts.has_mask_head() ? 1 : 0) - (pools_aside ? 1 : 0));
  double largest = 0;
  for (const auto& record : found.records) {
    ASSERT_EQ(record->output_gradient.shape(), record->output.shape());
    for (int64_t head = 0; head < record->queries.size(0); ++head) {
      largest = std::max(largest, std::abs(product_of_head(*record, head)));
    }
  }
  for (const auto& record : found.records) {
    SCOPED_TRACE(to_string(record->site));
    std::vector<int64_t> heads{0, record->queries.size(0) - 1};
    if (support::kSanitized) heads.pop_back();
    for (const int64_t head : heads) {
      expect_slope(
          [&](float step) {
            const SubjectOutput changed = fixture.plain({ScaleHead{record->site, head, 1 + step}});
            return target_value(target, changed, TargetMeasure::kLogit);
          },
          product_of_head(*record, head), largest, fixture.has_kinks());
    }
  }
}

TEST_P(GradientOf, HeadOutputsIsTheSlopeOfScalingThem) {
  GradientFixture fixture(GetParam());
  expect_head_outputs_are_slopes(fixture);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GradientOf, ::testing::ValuesIn(fixtures()),
                         [](const auto& fixture) { return fixture.param; });

// What autograd says of the same models in double (tools/fixtures/make_gradient_answers.py).
const NpzFile& gradient_answers() {
  static const NpzFile file = NpzFile::open(test_data("explain/gradients.npz"));
  return file;
}

std::vector<std::string> answered() {
  std::vector<std::string> names;
  for (const std::string& name : gradient_answers().names()) {
    if (name.ends_with(".target")) names.push_back(name.substr(0, name.find('.')));
  }
  return names;
}

Target target_at(const SubjectOutput& plain, const ModelFacts& facts, int64_t place) {
  if (plain.logits.rank() == 1) return ClassTarget{place};
  const int64_t row = place / plain.logits.size(1), col = place % plain.logits.size(1);
  if (facts.finds_objects()) return BoxTarget{row, col};
  return TokenTarget{row, col};
}

// Gradients sum over all paths, in f32, so that errors are relative to the largest of them.
void expect_close(const Tensor& found, const Tensor& expected) {
  constexpr double kTolerance = 1e-4;
  ASSERT_EQ(found.shape(), expected.shape());
  const std::vector<double> wanted = to_doubles(expected);
  EXPECT_TRUE(all_close(found, wanted, kTolerance * largest_magnitude(wanted)));
}

class AutogradOf : public ::testing::TestWithParam<std::string> {};

TEST_P(AutogradOf, InputsAndAttentionWeights) {
  GradientFixture fixture(GetParam());
  const std::string prefix = GetParam() + ".";
  const Tensor place = gradient_answers().tensor(prefix + "target");
  const Target target =
      target_at(fixture.plain(), fixture.engine.facts(), place.values<int64_t>()[0]);
  const SubjectGradient found =
      fixture.gradient({.target = target, .record = RecorderOptions(), .at = {}});
  EXPECT_NEAR(found.value, gradient_answers().tensor(prefix + "value").values<double>()[0], 1e-4);
  size_t compared = 2;
  for (const InputGradient& input : found.inputs) {
    SCOPED_TRACE(input.name);
    expect_close(input.gradient, gradient_answers().tensor(prefix + "input." + input.name));
    ++compared;
  }
  for (const auto& record : found.records) {
    if (record->site.kind == SiteKind::kPool) continue;  // its weights are hidden inside of torch
    const std::string site = to_string(record->site);
    SCOPED_TRACE(site);
    const Tensor expected = gradient_answers().tensor(prefix + "weights." + site);
    Tensor all = Tensor::uninitialized(expected.shape());
    for (int64_t head = 0; head < expected.size(0); ++head) {
      const Tensor tile =
          AttentionMap(record, head).gradient_tile({0, expected.size(1), 0, expected.size(2)});
      std::ranges::copy(tile.values<float>(), all.mutable_matrix<float>(head).data);
    }
    expect_close(all, expected);
    ++compared;
  }
  const auto stored =
      std::ranges::count_if(gradient_answers().names(),
                            [&](const std::string& name) { return name.starts_with(prefix); });
  EXPECT_EQ(static_cast<int64_t>(compared), stored);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, AutogradOf, ::testing::ValuesIn(answered()),
                         [](const auto& fixture) { return fixture.param; });

TEST(EngineGradient, OfAContrastIsTheDifference) {
  GradientFixture fixture("gpt2_lm");
  const auto gradient = [&](const Target& target, std::optional<Target> against) {
    return fixture.gradient(
        {.target = target, .against = std::move(against), .record = {}, .at = {}});
  };
  for (const int64_t position : {2, 3}) {  // in the same row, and in another
    const TokenTarget target{2, 5}, against{position, 9};
    const SubjectGradient both = gradient(target, against), one = gradient(target, {}),
                          other = gradient(against, {});
    EXPECT_NEAR(both.value, one.value - other.value, 1e-6);
    std::vector<double> expected = to_doubles(one.inputs[0].gradient);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] -= double{other.inputs[0].gradient.values<float>()[i]};
    }
    EXPECT_TRUE(all_close(both.inputs[0].gradient, expected, 2e-5 * largest_magnitude(expected)));
  }
}

TEST(EngineGradient, PixelsFallIntoThePatchesOfTheAxis) {
  for (const char* name : {"vit_image", "detr_objects", "clip_model"}) {
    GradientFixture fixture(name);
    const SubjectGradient found =
        fixture.gradient({.target = gradient_target(fixture), .record = {}, .at = {}});
    const InputGradient& pixels = found.inputs.back();
    EXPECT_EQ(pixels.name, "pixel_values");
    EXPECT_EQ(pixels.axis, fixture.input.patches.name);
    const std::vector<double> sums = position_sums(pixels, pixels.gradient);
    EXPECT_EQ(static_cast<int64_t>(sums.size()),
              fixture.input.patches.grid_rows * fixture.input.patches.grid_cols);
    double all = 0, within = 0;
    for (const float g : pixels.gradient.values<float>()) all += double{g};
    for (const double sum : sums) within += sum;
    // Patches cover these pictures, so that nothing is left over.
    EXPECT_NEAR(all, within, 1e-9 + 1e-6 * std::abs(all)) << name;
  }
}

TEST(EngineGradient, OfASiteAloneRecordsNoOther) {
  GradientFixture fixture("marian_mt");
  RecorderOptions options;
  options.wanted = [](SiteId site) { return site.kind == SiteKind::kCross; };
  const SubjectGradient found =
      fixture.gradient({.target = TokenTarget{1, 4}, .inputs = false, .record = options, .at = {}});
  ASSERT_EQ(static_cast<int64_t>(found.records.size()), fixture.engine.facts().decoder->layers);
  // A target of row 1 has no part in what later rows see.
  const Tensor& gradient = found.records.back()->output_gradient;
  EXPECT_NE(gradient.matrix<float>(0)(1, 0), 0);
  EXPECT_EQ(gradient.matrix<float>(0)(2, 0), 0);
}

TEST(EngineGradient, In16BitsIsNearThatInF32) {
  const std::string folder = parity_folder("bert_sequence").string();
  const ModelInputs inputs = read_inputs(parity_folder("bert_sequence") / "inputs.safetensors");
  const GradientRequest request{.target = ClassTarget{1}, .record = {}, .at = {}};
  std::vector<std::vector<double>> found;
  for (const DType compute : {DType::kF32, DType::kI16}) {
    const Engine engine = Engine::open(folder, {.compute = compute});
    found.push_back(
        to_doubles(engine_gradient(engine, engine.label(inputs), request).inputs[0].gradient));
  }
  for (size_t i = 0; i < found[0].size(); ++i) {
    // Weights of attention are rounded to bf16's 8 bits, all else to 16.
    ASSERT_NEAR(found[0][i], found[1][i], 0.01 * largest_magnitude(found[0])) << i;
  }
}

TEST(EngineGradient, OfQuantizedWeightsIsThatOfWhatTheyStandFor) {
  for (const char* name : {"llama.gguf", "qwen2.gguf"}) {
    SCOPED_TRACE(name);
    const std::vector<int64_t> ids{1, 4, 7, 2, 9};
    EncodedInput input;
    input.inputs.input_ids = ids;
    input.axis = ids_axis(nullptr, ids);
    GradientFixture fixture(test_data("checkpoint") / name, input);
    expect_inputs_are_differences(fixture);
    expect_head_outputs_are_slopes(fixture);
  }
}

ErrorKind kind_of(GradientFixture& fixture, const GradientRequest& request) {
  try {
    fixture.gradient(request);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::kInternal;
}

TEST(EngineGradient, RefusesWhatIsNotThere) {
  GradientFixture words("gpt2_lm"), plain("bert_model"), objects("detr_objects");
  const auto asked = [](const Target& target) {
    return GradientRequest{.target = target, .record = {}, .at = {}};
  };
  const int64_t rows = words.plain().logits.size(0), vocabulary = words.plain().logits.size(1);
  for (const TokenTarget target : {TokenTarget{rows, 1}, TokenTarget{-1, 1}, TokenTarget{-2, 1},
                                   TokenTarget{0, vocabulary}, TokenTarget{0, -1}}) {
    EXPECT_EQ(kind_of(words, asked(target)), ErrorKind::kInvalidArgument) << target.position;
  }
  EXPECT_EQ(kind_of(objects, asked(BoxTarget{-1, 0})), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(plain, asked(ClassTarget{0})), ErrorKind::kUnsupported);
  EXPECT_EQ(kind_of(plain, asked(SimilarityTarget{{1, 2}})), ErrorKind::kInvalidArgument);
  GradientRequest mixed = asked(TokenTarget{0, 1});
  mixed.against = SimilarityTarget{{1}};
  EXPECT_EQ(kind_of(words, mixed), ErrorKind::kInvalidArgument);
  GradientRequest elsewhere = asked(TokenTarget{0, 1});
  elsewhere.at["pixel_values"] = Tensor({1});
  EXPECT_EQ(kind_of(words, elsewhere), ErrorKind::kInvalidArgument);
  elsewhere.at = {{"inputs_embeds", Tensor({1, 2})}};
  EXPECT_EQ(kind_of(words, elsewhere), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace fovea
