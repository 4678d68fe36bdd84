#include "fovea/engine/engine_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fovea/engine/engine_subject.h"
#include "fovea/engine/input_file.h"
#include "fovea/explain/input_sums.h"
#include "fovea/explain/target.h"
#include "support/fixture_models.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::testing::random_floats;

std::vector<std::string> fixtures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(parity_folder(""))) {
    if (std::filesystem::exists(entry.path() / "inputs.safetensors")) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

struct Fixture {
  explicit Fixture(const std::string& name)
      : engine(Engine::open(parity_folder(name).string())),
        input(engine.label(read_inputs(parity_folder(name) / "inputs.safetensors"))),
        subject(engine, input, LogitRows::kAll) {}

  SubjectOutput plain(const std::vector<Intervention>& changes = {}) {
    return subject.run(changes, RecorderOptions::nothing(), {});
  }
  SubjectGradient gradient(const GradientRequest& request) {
    return engine_gradient(engine, input, request, {});
  }
  double value_at(const Target& target, const std::string& name, const Tensor& numbers) {
    return gradient({.target = target, .inputs = false, .record = {}, .at = {{name, numbers}}})
        .value;
  }

  Engine engine;
  TextInput input;
  EngineSubject subject;
};

// One number of what the model gives, that all of its input has a part in.
Target target_of(Fixture& fixture) {
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

// f'(0) from four values: the error is of order step^4, so that the step may be large enough for
// f32 to see the difference.
double slope(const std::function<double(float)>& f, float step) {
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * double{step});
}

class GradientOf : public ::testing::TestWithParam<std::string> {};

TEST_P(GradientOf, InputsAreCentralDifferences) {
  Fixture fixture(GetParam());
  const Target target = target_of(fixture);
  const SubjectGradient found = fixture.gradient({.target = target, .record = {}, .at = {}});
  EXPECT_NEAR(found.value, target_value(target, fixture.plain(), TargetMeasure::kLogit), 2e-5);
  ASSERT_FALSE(found.inputs.empty());
  for (const InputGradient& input : found.inputs) {
    ASSERT_EQ(input.values.shape(), input.gradient.shape());
    const std::span<const float> values = input.values.values<float>();
    const std::span<const float> gradient = input.gradient.values<float>();
    double length = 0;
    for (const float g : gradient) length += double{g} * double{g};
    length = std::sqrt(length);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      // Three random directions, and the gradient's own, of length 1.
      std::vector<float> direction = random_floats(input.values.elements(), 40 + seed);
      if (seed == 0) direction.assign(gradient.begin(), gradient.end());
      double norm = 0, expected = 0;
      for (const float d : direction) norm += double{d} * double{d};
      norm = std::sqrt(norm);
      for (size_t i = 0; i < direction.size(); ++i) {
        direction[i] /= static_cast<float>(norm);
        expected += double{direction[i]} * double{gradient[i]};
      }
      const double measured = slope(
          [&](float step) {
            Tensor moved = input.values.clone();
            for (size_t i = 0; i < values.size(); ++i) {
              moved.mutable_values<float>()[i] += step * direction[i];
            }
            return fixture.value_at(target, input.name, moved);
          },
          1e-2F);
      printf("INPUT %s %s seed %d length %g expected %g measured %g err/len %g\n",
             GetParam().c_str(), input.name.c_str(), int(seed), length, expected, measured,
             std::abs(expected - measured) / length);
    }
  }
}

TEST_P(GradientOf, HeadOutputsIsTheSlopeOfScalingThem) {
  Fixture fixture(GetParam());
  const Target target = target_of(fixture);
  const SubjectGradient found = fixture.gradient(
      {.target = target, .inputs = false, .record = RecorderOptions{.outputs = true}, .at = {}});
  EXPECT_TRUE(found.inputs.empty());
  double largest = 0;
  struct Row {
    SiteId site;
    int64_t head;
    double expected;
  };
  std::vector<Row> rows;
  for (const auto& record : found.records) {
    ASSERT_EQ(record->output_gradient.shape(), record->output.shape());
    for (int64_t head = 0; head < record->queries.size(0); ++head) {
      const MatrixView<const float> output = record->output.matrix<float>(head);
      const MatrixView<const float> gradient = record->output_gradient.matrix<float>(head);
      double sum = 0;
      for (int64_t r = 0; r < output.rows; ++r) {
        for (int64_t c = 0; c < output.cols; ++c) {
          sum += double{output(r, c)} * double{gradient(r, c)};
        }
      }
      rows.push_back({record->site, head, sum});
      largest = std::max(largest, std::abs(sum));
    }
  }
  for (const Row& row : rows) {
    const double measured = slope(
        [&](float step) {
          const SubjectOutput changed =
              fixture.plain({ScaleHead{row.site, row.head, 1 + step}});
          return target_value(target, changed, TargetMeasure::kLogit);
        },
        1e-1F);
    printf("HEAD %s %s %d expected %g measured %g err/largest %g\n", GetParam().c_str(),
           to_string(row.site).c_str(), int(row.head), row.expected, measured,
           std::abs(row.expected - measured) / largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GradientOf, ::testing::ValuesIn(fixtures()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fovea
