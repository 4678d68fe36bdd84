#include "fovea/layers/experts.h"

#include <gtest/gtest.h>

#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using support::all_close;
using support::random_tensor;
using support::to_doubles;

constexpr int64_t kExpertWidth = 4, kExpertInner = 6, kExperts = 3;

Config expert_config(const char* text) {
  return Config(Json::parse(text, "config.json"), "config.json");
}

std::vector<NamedTensor> separate_experts() {
  std::vector<NamedTensor> tensors;
  for (int64_t e = 0; e < kExperts; ++e) {
    const std::string name = std::to_string(e);
    const auto seed = static_cast<uint64_t>(10 * e);
    tensors.push_back({name + ".w1.weight", random_tensor({kExpertInner, kExpertWidth}, seed + 1)});
    tensors.push_back({name + ".w3.weight", random_tensor({kExpertInner, kExpertWidth}, seed + 2)});
    tensors.push_back({name + ".w2.weight", random_tensor({kExpertWidth, kExpertInner}, seed + 3)});
  }
  return tensors;
}

// The same numbers, all experts of a part in one tensor.
std::vector<NamedTensor> stacked_experts() {
  std::vector<NamedTensor> stacked;
  const std::vector<NamedTensor> apart = separate_experts();
  for (size_t part = 0; part < 3; ++part) {
    const Shape& one = apart[part].tensor.shape();
    std::vector<float> all;
    for (size_t e = 0; e < kExperts; ++e) {
      const auto values = apart[3 * e + part].tensor.values<float>();
      all.insert(all.end(), values.begin(), values.end());
    }
    stacked.push_back(
        {apart[part].name.substr(2), Tensor::from<float>({kExperts, one[0], one[1]}, all)});
  }
  return stacked;
}

ExpertFeedForward feed_forward_of(std::vector<NamedTensor> tensors) {
  const LayerSource source{Weights(std::make_shared<MemorySource>(std::move(tensors))),
                           DType::kF32};
  return {ops::Linear(random_tensor({kExperts, kExpertWidth}, 77)),
          load_experts(source, kExperts, kExpertWidth, kExpertInner, {"w1", "w3", "w2"}),
          2,
          ops::SoftmaxOver::kChosen,
          {}};
}

TEST(Experts, LieOneByOneOrInOneTensor) {
  const Tensor x = random_tensor({5, kExpertWidth}, 5);
  const SiteId site{SiteKind::kSelf, 0};
  const Value apart = feed_forward_of(separate_experts())({}, site, x, {});
  const Value stacked = feed_forward_of(stacked_experts())({}, site, x, {});
  EXPECT_TRUE(all_close(stacked.tensor, to_doubles(apart.tensor), 1e-6));
}

TEST(Experts, AreNotedWithTheirShares) {
  const Tensor x = random_tensor({5, kExpertWidth}, 5);
  Recorder recorder;
  const Value result =
      feed_forward_of(separate_experts())({.recorder = &recorder}, {SiteKind::kSelf, 2}, x, {});
  const std::vector<ExpertChoice> noted = recorder.take_experts();
  ASSERT_EQ(noted.size(), 1U);
  EXPECT_EQ(noted[0].layer, 2);
  EXPECT_EQ(noted[0].experts, kExperts);
  ASSERT_EQ(noted[0].shares.shape(), Shape({5, 2}));
  for (size_t token = 0; token < 5; ++token) {
    const auto shares = noted[0].shares.values<float>().subspan(2 * token, 2);
    EXPECT_GE(shares[0], shares[1]);
    EXPECT_NEAR(shares[0] + shares[1], 1, 1e-6);
  }
  EXPECT_EQ(result.shape(), x.shape());
}

TEST(Experts, CountsThatNoModelHasAreOneClearLine) {
  const auto counts = [](const char* text) {
    return ExpertCounts::of(expert_config(text), "num_experts", "num_experts_per_tok", 2);
  };
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "num_experts is 2000000 but no model has more",
                         [&] { counts(R"({"num_experts": 2000000})"); }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "num_experts_per_tok is 4 but num_experts is 3",
                         [&] { counts(R"({"num_experts": 3, "num_experts_per_tok": 4})"); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "num_experts", [&] { counts(R"({"num_experts": -1})"); }));
}

TEST(Experts, OneThatIsMissingIsNamed) {
  std::vector<NamedTensor> tensors = separate_experts();
  tensors.erase(tensors.end() - 3, tensors.end());
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "2.w1.weight", [&] { feed_forward_of(std::move(tensors)); }));
}

}  // namespace
}  // namespace fovea
