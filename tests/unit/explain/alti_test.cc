#include "fovea/explain/alti.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/explain/method.h"
#include "support/errors.h"
#include "unit/explain/block_records.h"

namespace fovea {
namespace {

using support::BlockCase;
using support::Vector;

// Shares of f32 vectors whose lengths are around 10.
constexpr double kAltiTolerance = 1e-5;

double norm_of(const Vector& v, AltiDistance distance) {
  double sum = 0;
  for (const double value : v)
    sum += distance == AltiDistance::kL1 ? std::abs(value) : value * value;
  return distance == AltiDistance::kL1 ? sum : std::sqrt(sum);
}

Vector dense_shares(const AttentionRecord& record, int64_t i, AltiDistance distance) {
  Vector y, shares;
  for (const Vector& term : support::dense_terms(record, BlockExtent::kNorm, i, &y)) {
    Vector rest = y;
    for (size_t c = 0; c < y.size(); ++c) rest[c] -= term[c];
    shares.push_back(std::max(0.0, norm_of(y, distance) - norm_of(rest, distance)));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

TEST(Alti, SharesEqualTheDefinitionForEveryKindOfBlock) {
  for (const BlockCase& block : support::block_cases()) {
    for (const AltiDistance distance : {AltiDistance::kL1, AltiDistance::kL2}) {
      SCOPED_TRACE(block.name);
      // More columns than are compared at a time.
      const auto record = support::block_record(block, 70);
      const Matrix shares = alti_shares(record, distance);
      for (int64_t i = 0; i < shares.rows(); ++i) {
        const Vector expected = dense_shares(*record, i, distance);
        ASSERT_EQ(shares.row(i).size(), expected.size());
        for (size_t j = 0; j < expected.size(); ++j) {
          ASSERT_NEAR(shares.row(i)[j], expected[j], kAltiTolerance) << i << ", " << j;
        }
        EXPECT_NEAR(std::accumulate(shares.row(i).begin(), shares.row(i).end(), 0.0), 1, 1e-12);
      }
    }
  }
}

TEST(Alti, ACausalRowHasNoShareOfWhatComesLater) {
  const auto record = support::block_record(support::block_cases()[1], 9);
  const Matrix shares = alti_shares(record);
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = i + 1; j < 9; ++j) EXPECT_EQ(shares(i, j), 0);
  }
}

TEST(Alti, ARowThatSeesNothingIsItsOwn) {
  AttentionRecord record = *support::block_record(support::block_cases()[1], 4);
  record.rule.mask.key_valid = {0, 1, 1, 1};
  const Matrix shares = alti_shares(support::with_lse(std::move(record)));
  EXPECT_EQ(shares(0, 0), 1);
}

TEST(Alti, OverLayersIsTheProductOfTheirShares) {
  LayerRecords layers;
  Matrix product = Matrix::identity(11);
  for (int layer = 0; layer < 3; ++layer) {
    layers.push_back(support::block_record(support::block_cases()[0], 11, layer));
    product = multiply(alti_shares(layers.back()), product);
  }
  for (int64_t target = 0; target < 11; ++target) {
    const std::vector<double> row = alti(layers, target);
    for (size_t j = 0; j < row.size(); ++j) EXPECT_NEAR(row[j], product.row(target)[j], 1e-14);
  }
}

TEST(AltiPlus, SharesOfSourceAndTargetSumToOne) {
  EncoderDecoderLayers layers;
  for (int layer = 0; layer < 2; ++layer) {
    layers.encoder.push_back(support::block_record(support::block_cases()[0], 8, layer));
    layers.decoder_self.push_back(support::block_record(support::block_cases()[1], 5, layer));
    layers.cross.push_back(support::block_record(support::block_cases()[4], 8, layer));
  }
  for (int64_t step = 0; step < 5; ++step) {
    const SourceAndTarget shares = alti_plus(layers, step);
    double sum = 0;
    for (const double share : shares.source) sum += share;
    for (const double share : shares.target) sum += share;
    EXPECT_NEAR(sum, 1, 1e-12);
    for (size_t later = size_t(step) + 1; later < 5; ++later) EXPECT_EQ(shares.target[later], 0);
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no position 5 among 5",
                         [&] { alti_plus(layers, 5); }));
  layers.decoder_self.pop_back();
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "has 2 and 1", [&] { alti_plus(layers, 0); }));
}

TEST(Alti, RefusesWhatItCannotDo) {
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "takes up to 1024; use value-norm or rollout",
                 [] { alti_shares(support::block_record(support::block_cases()[0], 1025)); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "at least one layer", [] { alti({}, 0); }));
  LayerRecords layers{support::block_record(support::block_cases()[0], 4, 0),
                      support::block_record(support::block_cases()[0], 5, 1)};
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "over the same positions", [&] { alti(layers, 0); }));
}

TEST(AltiMethod, GivesSharesAndSendsDecodersToAltiPlus) {
  const fovea::Run run = support::block_run(support::block_cases()[0], 6, 2);
  const Method method = method_named("alti");
  const ExplainRequest request{.run = run, .position = 2};
  EXPECT_EQ(explain(method, request).scores, alti(run.records, 2));
  const ExplainRequest other{.run = run, .position = 2, .parameters = {{"distance", "l2"}}};
  EXPECT_EQ(explain(method, other).scores, alti(run.records, 2, AltiDistance::kL2));
  const ExplainRequest decoder{.run = run, .kind = SiteKind::kDecoderSelf};
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "use alti+", [&] { explain(method, decoder); }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "no cross-attention",
                         [&] { explain(method_named("alti+"), request); }));
}

}  // namespace
}  // namespace fovea
