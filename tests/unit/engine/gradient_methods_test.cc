// Relevancy, input gradients, integrated gradients and head importance on whole models, against
// torch's autograd (tools/fixtures/make_relevancy_answers.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/engine/engine_subject.h"
#include "fovea/engine/input_file.h"
#include "fovea/explain/integrated_gradients.h"
#include "fovea/explain/method.h"
#include "fovea/explain/target_gradient.h"
#include "fovea/io/npz.h"
#include "support/data.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

// The models run in f32 and the answers in double; gradients pass through some dozen products of
// f32 numbers. Relative to the largest number of a map.
constexpr double kRelevancyTolerance = 2e-5;

using Parameters = std::map<std::string, std::string, std::less<>>;

const NpzFile& relevancy_answers() {
  static const NpzFile file = NpzFile::open(test_data("explain/relevancy.npz"));
  return file;
}

// A fixture, one of its inputs, and where the target stands.
struct CaseName {
  const char* name;
  const char* fixture;
  SiteKind kind = SiteKind::kSelf;
  const char* inputs = "inputs.safetensors";
};

constexpr CaseName kOneStack[] = {
    {"bert_sequence", "bert_sequence"},
    {"bert_contrast", "bert_sequence"},
    {"bert_padded", "bert_sequence", SiteKind::kSelf, "inputs-1.safetensors"},
    {"vit_image", "vit_image"},
    {"gpt2_lm", "gpt2_lm"},
    {"gpt2_middle", "gpt2_lm"},
    {"llama_gqa", "llama_gqa"},
    {"llama_padded", "llama_gqa", SiteKind::kSelf, "inputs-3.safetensors"},
    {"mistral_window", "mistral_window"},
    {"gemma3_text", "gemma3_text"},
    {"siglip_vision", "siglip_vision"},
    {"clip_pair_vision", "clip_model", SiteKind::kVisionSelf},
    {"clip_pair_text", "clip_model", SiteKind::kTextSelf}};

constexpr CaseName kTwoStacks[] = {
    {"marian_mt", "marian_mt", SiteKind::kCross},
    {"marian_mt_middle", "marian_mt", SiteKind::kCross},
    {"marian_mt_padded", "marian_mt", SiteKind::kCross, "inputs-2.safetensors"},
    {"t5_lm", "t5_lm", SiteKind::kCross},
    {"t5_lm_middle", "t5_lm", SiteKind::kCross},
    {"t5_lm_padded", "t5_lm", SiteKind::kCross, "inputs-2.safetensors"},
    {"whisper_lm", "whisper_lm", SiteKind::kCross},
    {"detr_1", "detr_objects", SiteKind::kCross},
    {"detr_2", "detr_objects", SiteKind::kCross},
    {"detr_padded", "detr_objects", SiteKind::kCross, "inputs-1.safetensors"}};

std::vector<CaseName> all_cases() {
  std::vector<CaseName> cases(std::begin(kOneStack), std::end(kOneStack));
  cases.insert(cases.end(), std::begin(kTwoStacks), std::end(kTwoStacks));
  return cases;
}

class Case {
 public:
  explicit Case(const CaseName& of)
      : name_(of.name),
        kind_(of.kind),
        engine_(Engine::open(parity_folder(of.fixture).string())),
        input_(engine_.label(read_inputs(parity_folder(of.fixture) / of.inputs))),
        subject_(engine_, input_, LogitRows::kAll),
        run_(engine_.run(input_).run),
        target_(target_named("target")) {
    if (has("against")) against_ = target_named("against");
  }

  bool has(const std::string& what) const {
    return relevancy_answers().contains(name_ + "." + what);
  }
  Tensor answer(const std::string& what) const {
    return relevancy_answers().tensor(name_ + "." + what);
  }
  const Engine& engine() const { return engine_; }

  Explanation explain(const char* method, const Parameters& parameters = {},
                      std::optional<SiteKind> kind = {}) {
    return fovea::explain(method_named(method), request(kind.value_or(kind_), parameters));
  }
  // Without the method around it.
  IntegratedGradients integrate(int64_t steps) {
    const GradientRequest what{.target = target_, .against = against_, .record = {}, .at = {}};
    const std::vector<InputGradient> inputs =
        asked_inputs(request(kind_, {}), subject_.gradient(what).inputs);
    std::vector<Tensor> zero;
    for (const InputGradient& input : inputs) zero.emplace_back(input.values.shape());
    return integrated_gradients(subject_, what, inputs, zero, steps);
  }

 private:
  ExplainRequest request(SiteKind kind, const Parameters& parameters) {
    return {.run = run_,
            .kind = kind,
            .subject = &subject_,
            .target = &target_,
            .against = against_ ? &*against_ : nullptr,
            .parameters = parameters};
  }
  Target target_named(const std::string& what) const {
    const Tensor named = answer(what);
    if (named.dtype() == DType::kF32) {
      return SimilarityTarget{{named.values<float>().begin(), named.values<float>().end()}};
    }
    const auto numbers = named.values<int64_t>();
    if (numbers.size() == 1) return ClassTarget{numbers[0]};
    if (engine_.facts().finds_objects()) return BoxTarget{numbers[0], numbers[1]};
    return TokenTarget{numbers[0], numbers[1]};
  }

  std::string name_;
  SiteKind kind_;
  Engine engine_;
  EncodedInput input_;
  EngineSubject subject_;
  fovea::Run run_;
  Target target_;
  std::optional<Target> against_;
};

void expect_scores(const std::vector<double>& found, const Tensor& expected,
                   double tolerance = kRelevancyTolerance) {
  const auto wanted = expected.values<float>();
  ASSERT_EQ(found.size(), wanted.size());
  double most = 0;
  for (const float value : wanted) most = std::max(most, std::abs(double{value}));
  for (size_t j = 0; j < found.size(); ++j) {
    EXPECT_NEAR(found[j], double{wanted[j]}, tolerance * most) << "position " << j;
  }
}

// Without the 1 of the identity, which would hide all else.
void expect_relevancy(const Explanation& found, const Tensor& expected) {
  std::vector<double> scores = found.scores;
  std::vector<float> wanted(expected.values<float>().begin(), expected.values<float>().end());
  if (found.row) {
    scores[size_t(*found.row)] -= 1;
    wanted[size_t(*found.row)] -= 1;
  }
  expect_scores(scores, Tensor::from<float>({int64_t(wanted.size())}, wanted));
}

TEST(Relevancy, OfOneStackIsTheDenseProduct) {
  for (const CaseName& of : kOneStack) {
    SCOPED_TRACE(of.name);
    Case one(of);
    const Explanation found = one.explain("relevancy");
    EXPECT_EQ(found.row.has_value(), std::string_view(of.name) != "siglip_vision");
    expect_relevancy(found, one.answer("relevancy"));
    if (!one.has("relevancy.last")) continue;
    expect_relevancy(one.explain("relevancy", {{"start-layer", "-1"}}),
                     one.answer("relevancy.last"));
  }
}

TEST(Relevancy, OfAnEncoderAndADecoderIsTheDenseRule) {
  for (const CaseName& of : kTwoStacks) {
    SCOPED_TRACE(of.name);
    Case one(of);
    expect_scores(one.explain("relevancy").scores, one.answer("relevancy"));
    expect_scores(one.explain("relevancy", {{"compat", "reference"}}).scores,
                  one.answer("relevancy.reference"));
    expect_scores(one.explain("relevancy", {}, SiteKind::kDecoderSelf).scores,
                  one.answer("relevancy.decoder"));
  }
}

TEST(InputGradient, IsAutogradsTimesTheInputOrItsLength) {
  for (const CaseName& of : all_cases()) {
    for (const char* as : {"dot", "norm"}) {
      SCOPED_TRACE(fmt::format("{} {}", of.name, as));
      Case one(of);
      const Explanation found = one.explain("input-gradient", {{"as", as}});
      expect_scores(found.scores, one.answer(as), 1e-4);
      EXPECT_EQ(found.is_signed, std::string_view(as) == "dot");
      const std::string target = fmt::format("{}.target", as);
      ASSERT_EQ(found.target_scores.empty(), !one.has(target));
      if (one.has(target)) expect_scores(found.target_scores, one.answer(target), 1e-4);
    }
  }
}

TEST(IntegratedGradients, AreAutogradsAtTheSamePoints) {
  for (const CaseName& of : all_cases()) {
    // Each of them is a dozen runs, so one of a kind.
    static const std::set<std::string_view> kChosen{
        "bert_contrast", "vit_image",        "gpt2_middle", "llama_gqa", "gemma3_text",
        "t5_lm_middle",  "marian_mt_padded", "whisper_lm",  "detr_2",    "clip_pair_text"};
    if (!kChosen.contains(of.name)) continue;
    SCOPED_TRACE(of.name);
    Case one(of);
    const Explanation found = one.explain("integrated-gradients", {{"steps", "8"}});
    // Near the baseline norms make gradients, and their rounding, large.
    expect_scores(found.scores, one.answer("integrated"), 1e-3);
    if (one.has("integrated.target")) {
      expect_scores(found.target_scores, one.answer("integrated.target"), 1e-3);
    }
    const IntegratedGradients from_zero = one.integrate(2);
    const Tensor ends = one.answer("integrated.ends");
    EXPECT_NEAR(from_zero.at_baseline, double{ends.values<float>()[0]}, 1e-4);
    EXPECT_NEAR(from_zero.at_input, double{ends.values<float>()[1]}, 1e-4);
  }
}

TEST(HeadImportance, IsAutogradsAtTheHeadsOutputs) {
  for (const CaseName& of : all_cases()) {
    Case one(of);
    for (const SiteKind kind : {SiteKind::kSelf, SiteKind::kEncoderSelf, SiteKind::kDecoderSelf,
                                SiteKind::kCross, SiteKind::kVisionSelf, SiteKind::kTextSelf}) {
      const std::string site = to_string(SiteId{kind, 0});
      const std::string what = "importance." + site.substr(0, site.rfind('.'));
      if (!one.has(what)) continue;
      SCOPED_TRACE(fmt::format("{} {}", of.name, what));
      const Tensor expected = one.answer(what);
      expect_scores(one.explain("head-importance", {{"normalize", "none"}}, kind).scores, expected);
      const Explanation shares = one.explain("head-importance", {}, kind);
      EXPECT_EQ(shares.axis.name, "heads");
      EXPECT_EQ(shares.axis.grid_rows, expected.size(0));
      for (int64_t layer = 0; layer < expected.size(0); ++layer) {
        double square = 0;
        for (int64_t head = 0; head < expected.size(1); ++head) {
          square += std::pow(shares.scores[size_t(layer * expected.size(1) + head)], 2);
        }
        EXPECT_NEAR(square, 1, 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace fovea
