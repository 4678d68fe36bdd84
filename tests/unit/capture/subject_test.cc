#include "fovea/capture/subject.h"

#include <gtest/gtest.h>

#include "support/records.h"

namespace fovea {
namespace {

// The smallest subject: one attention over its own fixed vectors, whose "class logit" is an output
// feature. It shows that the interface is enough to ablate and to differentiate through.
class OneAttention final : public Subject {
 public:
  explicit OneAttention(testing::AttentionCase c) : case_(std::move(c)) {}

  SubjectOutput run(const std::vector<Intervention>& interventions, Recorder* recorder,
                    const CancelToken& cancel) override {
    testing::AttentionCase changed = case_;
    auto& valid = changed.rule.mask.key_valid;
    valid.assign(static_cast<size_t>(case_.shape.cols), 1);
    for (const Intervention& intervention : interventions) {
      if (const auto* hide = std::get_if<HidePosition>(&intervention)) {
        valid[static_cast<size_t>(hide->position)] = 0;
      }
    }
    cancel.check();
    const testing::DenseAttention dense = testing::dense_attention(changed);
    if (recorder != nullptr) recorder->add(testing::record_of(changed));
    std::vector<float> logits(dense.outputs[0].begin(),
                              dense.outputs[0].begin() + case_.shape.value_dim);
    return {.logits = Tensor::from(Shape{case_.shape.value_dim}, logits)};
  }

  Gradient gradient(const Target& target, const CancelToken&) override {
    Recorder recorder;
    const SubjectOutput output = run({}, &recorder, {});
    const int64_t index = std::get<ClassTarget>(target).index;
    AttentionRecord record = *recorder.take().front();
    Tensor seed(Shape{1, case_.shape.rows, case_.shape.value_dim});
    seed.mutable_matrix<float>()(0, index) = 1;
    record.output_gradient = seed;
    Gradient result;
    result.value = output.logits.values<float>()[static_cast<size_t>(index)];
    result.run.records.push_back(std::make_shared<const AttentionRecord>(std::move(record)));
    return result;
  }

  std::unique_ptr<Subject> randomized(int, uint64_t seed) const override {
    return std::make_unique<OneAttention>(testing::plain_case(
        case_.shape.rows, case_.shape.head_dim, false, static_cast<uint32_t>(seed)));
  }

 private:
  testing::AttentionCase case_;
};

TEST(Subject, HidingAPositionTakesItsWeightAway) {
  OneAttention subject(testing::plain_case(5, 4, false, 1));
  Recorder recorder;
  const SubjectOutput clean = subject.run({}, nullptr, {});
  const SubjectOutput hidden = subject.run({HidePosition{.position = 2}}, &recorder, {});
  EXPECT_NE(clean.logits.values<float>()[0], hidden.logits.values<float>()[0]);
  EXPECT_EQ(recorder.take().front()->rule.mask.key_valid[2], 0);
}

TEST(Subject, GradientRunsCarryTheGradient) {
  OneAttention subject(testing::plain_case(5, 4, false, 1));
  const Subject::Gradient gradient = subject.gradient(ClassTarget{1}, {});
  EXPECT_FALSE(gradient.run.records.front()->output_gradient.empty());
  const auto other = subject.randomized(1, 77);
  EXPECT_NE(other->run({}, nullptr, {}).logits.values<float>()[1],
            static_cast<float>(gradient.value));
}

TEST(Subject, StopsWhenCancelled) {
  OneAttention subject(testing::plain_case(5, 4, false, 1));
  const CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(subject.run({}, nullptr, cancel), Error);
}

}  // namespace
}  // namespace fovea
