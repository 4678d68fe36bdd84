// Value norms, ALTI, value zeroing and ablation on whole models, against what transformers and
// torch answer (tools/fixtures/make_value_answers.py).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/engine/engine_subject.h"
#include "fovea/engine/input_file.h"
#include "fovea/explain/alti.h"
#include "fovea/explain/method.h"
#include "fovea/explain/value_norm.h"
#include "fovea/explain/value_zeroing.h"
#include "fovea/io/npz.h"
#include "support/data.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

// The models run in f32, and the sums are of some dozen numbers near 1.
constexpr double kValueTolerance = 1e-5;

const NpzFile& value_answers() {
  static const NpzFile file = NpzFile::open(test_data("explain/values.npz"));
  return file;
}

struct ValueFixture {
  explicit ValueFixture(const std::string& name_)
      : name(name_),
        engine(Engine::open(parity_folder(name).string())),
        input(engine.label(read_inputs(parity_folder(name) / "inputs.safetensors"))),
        subject(engine, input, LogitRows::kAll),
        run(engine.run(input, {.record = {.block = true}}).run) {}

  Tensor answer(const std::string& what) const { return value_answers().tensor(name + "." + what); }
  Tensor answer_at(const std::string& what, SiteId site) const {
    return answer(what + "." + to_string(site));
  }
  LayerRecords layers(SiteKind kind) const { return layers_of(run, kind); }
  SiteKind first_kind() const { return run.records.front()->site.kind; }

  std::string name;
  Engine engine;
  EncodedInput input;
  EngineSubject subject;
  Run run;
};

void expect_row(std::span<const double> found, const Tensor& expected, int64_t row,
                double tolerance = kValueTolerance) {
  const auto wanted = expected.matrix<float>();
  ASSERT_EQ(static_cast<int64_t>(found.size()), wanted.cols);
  for (size_t j = 0; j < found.size(); ++j) {
    const double value = double{wanted(row, static_cast<int64_t>(j))};
    ASSERT_NEAR(found[j], value, tolerance * std::max(1.0, std::abs(value)))
        << "row " << row << ", column " << j;
  }
}

void expect_matrix(const Matrix& found, const Tensor& expected) {
  ASSERT_EQ(found.rows(), expected.size(0));
  for (int64_t i = 0; i < found.rows(); ++i) expect_row(found.row(i), expected, i);
}

class BlocksOf : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Fixtures, BlocksOf,
                         ::testing::Values("bert_sequence", "gpt2_lm", "llama_gqa", "vit_image",
                                           "marian_mt", "t5_lm", "distilbert_sequence",
                                           "gemma3_text", "m2m_100_lm", "albert_sequence",
                                           "clip_vision", "dinov2_image", "gpt_neox_parallel",
                                           "gpt_neox_sequential", "qwen3_lm", "siglip_vision",
                                           "whisper_lm", "dinov3_model"),
                         [](const auto& fixture) { return std::string(fixture.param); });

// The sum over the columns, the residual and the biases, one after the other.
std::vector<double> sum_of_parts(const BlockSum& sum, int64_t i) {
  std::vector<double> total = sum.constant(i);
  const Tensor terms = sum.head_terms(0, sum.cols());
  for (int64_t head = 0; head < sum.heads(); ++head) {
    const std::vector<float> weights = sum.maps()[static_cast<size_t>(head)].row(i);
    for (int64_t j = 0; j < sum.cols(); ++j) {
      const float* part = terms.matrix<float>(head).row(j);
      for (size_t c = 0; c < total.size(); ++c) {
        total[c] += sum.scale(i) * double{weights[static_cast<size_t>(j)]} * double{part[c]};
      }
    }
  }
  for (size_t c = 0; c < total.size() && sum.has_residual(); ++c) {
    total[c] += double{sum.residual(i)[c]};
  }
  return total;
}

TEST_P(BlocksOf, VectorsAndBiasesSumToWhatTheBlockGives) {
  const ValueFixture fixture(GetParam());
  for (const auto& record : fixture.run.records) {
    SCOPED_TRACE(to_string(record->site));
    const Tensor block = fixture.answer_at("block", record->site);
    const BlockSum sum(record, BlockExtent::kNorm, {0, record->shape().rows});
    for (int64_t i = 0; i < record->shape().rows; ++i) {
      const std::vector<double> output(sum.output(i).begin(), sum.output(i).end());
      expect_row(output, block, i);
      expect_row(sum_of_parts(sum, i), block, i);
    }
  }
}

constexpr const char* kWithNorms[] = {"bert_sequence",       "gpt2_lm",    "llama_gqa",
                                      "vit_image",           "marian_mt",  "t5_lm",
                                      "distilbert_sequence", "gemma3_text"};
constexpr BlockExtent kExtents[] = {BlockExtent::kAttention, BlockExtent::kResidual,
                                    BlockExtent::kNorm};

TEST(ValueNorm, OfARowEqualsTheDenseForm) {
  for (const char* name : kWithNorms) {
    const ValueFixture fixture(name);
    for (const auto& record : fixture.run.records) {
      for (const BlockExtent extent : kExtents) {
        SCOPED_TRACE(
            fmt::format("{} {} {}", name, to_string(record->site), kBlockExtents.name_of(extent)));
        const Tensor expected =
            fixture.answer_at(fmt::format("norm.{}", kBlockExtents.name_of(extent)), record->site);
        for (int64_t i = 0; i < record->shape().rows; ++i) {
          expect_row(value_norm_row(record, i, extent), expected, i);
        }
      }
    }
  }
}

TEST(ValueNorm, OfOneHeadUsesTheValuesOfItsGroup) {
  for (const char* name : kWithNorms) {
    const ValueFixture fixture(name);
    for (const auto& record : fixture.run.records) {
      SCOPED_TRACE(fmt::format("{} {}", name, to_string(record->site)));
      const int64_t last = record->shape().heads - 1;
      for (int64_t i = 0; i < record->shape().rows; ++i) {
        expect_row(value_norm_row(record, i, BlockExtent::kAttention, last),
                   fixture.answer_at("head", record->site), i);
      }
    }
  }
}

TEST(ValueNorm, MixingRatiosEqualTheDenseForm) {
  for (const char* name : kWithNorms) {
    const ValueFixture fixture(name);
    for (const auto& record : fixture.run.records) {
      for (const BlockExtent extent : kExtents) {
        // Without the residual nothing of a decoder's row is its own in cross-attention.
        if (record->site.kind == SiteKind::kCross && extent == BlockExtent::kAttention) continue;
        SCOPED_TRACE(
            fmt::format("{} {} {}", name, to_string(record->site), kBlockExtents.name_of(extent)));
        const Tensor expected = fixture.answer_at(
            fmt::format("mixing.{}", kBlockExtents.name_of(extent)), record->site);
        expect_row(mixing_ratios(record, extent), expected.reshaped({1, expected.elements()}), 0);
      }
    }
  }
}

TEST(Alti, EqualsTheDenseForm) {
  for (const char* name : {"bert_sequence", "gpt2_lm", "llama_gqa", "vit_image", "marian_mt",
                           "t5_lm", "gemma3_text", "m2m_100_lm"}) {
    const ValueFixture fixture(name);
    for (const auto& [distance, letter] :
         {std::pair{AltiDistance::kL1, "l1"}, std::pair{AltiDistance::kL2, "l2"}}) {
      SCOPED_TRACE(fmt::format("{} {}", name, letter));
      for (const auto& record : fixture.run.records) {
        expect_matrix(alti_shares(record, distance),
                      fixture.answer_at(fmt::format("alti.{}", letter), record->site));
      }
      const SiteKind kind = fixture.first_kind();
      const Tensor product = fixture.answer(
          fmt::format("alti.{}.{}", letter, kind == SiteKind::kSelf ? "self" : "encoder_self"));
      for (int64_t i = 0; i < product.size(0); ++i) {
        const std::vector<double> shares = alti(fixture.layers(kind), i, distance);
        expect_row(shares, product, i);
        EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-12);
      }
    }
  }
}

TEST(AltiPlus, SharesOfSourceAndTargetEqualTheDenseForm) {
  for (const char* name : {"marian_mt", "t5_lm", "m2m_100_lm"}) {
    const ValueFixture fixture(name);
    const EncoderDecoderLayers layers{fixture.layers(SiteKind::kEncoderSelf),
                                      fixture.layers(SiteKind::kDecoderSelf),
                                      fixture.layers(SiteKind::kCross)};
    const Tensor source = fixture.answer("alti_plus.source");
    for (int64_t step = 0; step < source.size(0); ++step) {
      const SourceAndTarget shares = alti_plus(layers, step);
      expect_row(shares.source, source, step);
      expect_row(shares.target, fixture.answer("alti_plus.target"), step);
    }
  }
}

TEST(ValueZeroing, EqualsTransformersWithTheSameValuesZeroed) {
  for (const char* name : {"bert_sequence", "gpt2_lm", "llama_gqa", "vit_image", "marian_mt",
                           "t5_lm", "gemma3_text"}) {
    ValueFixture fixture(name);
    for (const SiteKind kind : {SiteKind::kSelf, SiteKind::kEncoderSelf, SiteKind::kDecoderSelf}) {
      if (fixture.engine.facts().has_decoder() == (kind == SiteKind::kSelf)) continue;
      const LayerRecords layers = fixture.layers(kind);
      const ValueZeroingStack stack{kind, int64_t(layers.size()), layers.front()->shape().rows};
      const std::string place = to_string(SiteId{kind, 0});
      const std::string what = "zeroing." + place.substr(0, place.rfind('.'));
      SCOPED_TRACE(fmt::format("{} {}", name, what));
      for (int64_t layer = 0; layer < stack.layers; ++layer) {
        expect_matrix(value_zeroing_layer(fixture.subject, stack, layer),
                      fixture.answer(fmt::format("{}.{}", what, layer)));
      }
      for (const int64_t target : {int64_t{0}, stack.positions - 1}) {
        expect_row(value_zeroing(fixture.subject, stack, target), fixture.answer(what), target);
      }
    }
  }
}

Target ablation_target(const ValueFixture& fixture) {
  const Tensor target = fixture.answer("ablation.target");
  const auto numbers = target.values<int64_t>();
  if (numbers.size() == 1) return ClassTarget{numbers[0]};
  return TokenTarget{numbers[0], numbers[1]};
}

std::vector<double> ablate(ValueFixture& fixture, SiteKind kind, int64_t position,
                           const std::map<std::string, std::string, std::less<>>& parameters) {
  const Target target = ablation_target(fixture);
  const ExplainRequest request{.run = fixture.run,
                               .kind = kind,
                               .position = position,
                               .subject = &fixture.subject,
                               .target = &target,
                               .parameters = parameters};
  return explain(method_named("ablation"), request).scores;
}

void expect_losses(const std::vector<double>& found, const Tensor& expected) {
  expect_row(found, expected.reshaped({1, expected.elements()}), 0);
}

TEST(Ablation, EqualsTransformersWithTheSameChanges) {
  for (const char* name : {"bert_sequence", "gpt2_lm", "llama_gqa", "vit_image", "marian_mt",
                           "t5_lm", "distilbert_sequence"}) {
    SCOPED_TRACE(name);
    ValueFixture fixture(name);
    const bool decodes = fixture.engine.facts().has_decoder();
    expect_losses(ablate(fixture, fixture.first_kind(), 0, {}),
                  fixture.answer("ablation.position"));
    const int64_t row = decodes || fixture.engine.facts().text_stack().causal
                            ? fixture.answer("ablation.target").values<int64_t>()[0]
                            : 0;
    expect_losses(
        ablate(fixture, decodes ? SiteKind::kCross : SiteKind::kSelf, row, {{"unit", "edge"}}),
        fixture.answer("ablation.edge"));
    for (const auto& [kind, what] :
         {std::pair{SiteKind::kSelf, "self"}, std::pair{SiteKind::kEncoderSelf, "encoder_self"},
          std::pair{SiteKind::kDecoderSelf, "decoder_self"},
          std::pair{SiteKind::kCross, "cross"}}) {
      if (decodes == (kind == SiteKind::kSelf)) continue;
      SCOPED_TRACE(what);
      expect_losses(ablate(fixture, kind, 0, {{"unit", "head"}}),
                    fixture.answer(fmt::format("ablation.heads.{}", what)));
      if (fixture.name == "t5_lm") continue;
      expect_losses(ablate(fixture, kind, 0, {{"unit", "head"}, {"by", "uniform"}}),
                    fixture.answer(fmt::format("ablation.even.{}", what)));
    }
  }
}

}  // namespace
}  // namespace fovea
