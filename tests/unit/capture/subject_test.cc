#include "fovea/capture/subject.h"

#include <gtest/gtest.h>

#include "fovea/base/watch.h"
#include "support/records.h"

namespace fovea {
namespace {

// The smallest subject: one attention over its own fixed vectors, whose "class logit" is an output
// feature. It shows that the interface is enough to ablate.
class OneAttention final : public Subject {
 public:
  explicit OneAttention(support::AttentionCase c) : case_(std::move(c)) {}

  SubjectOutput run(const std::vector<Intervention>& changes,
                    const RecorderOptions& record) override {
    support::AttentionCase changed = case_;
    auto& valid = changed.rule.mask.key_valid;
    valid.assign(static_cast<size_t>(case_.shape.cols), 1);
    for (const Intervention& change : changes) {
      if (const auto* hide = std::get_if<HidePosition>(&change)) {
        valid[static_cast<size_t>(hide->position)] = 0;
      }
    }
    check_cancelled();
    const support::DenseAttention dense = support::dense_attention(changed);
    Recorder recorder(record);
    if (recorder.wants({})) recorder.add(support::record_of(changed));
    std::vector<float> logits(dense.outputs[0].begin(),
                              dense.outputs[0].begin() + case_.shape.value_dim);
    SubjectOutput output{.logits = Tensor::from(Shape{case_.shape.value_dim}, logits)};
    output.records = recorder.take();
    return output;
  }

  bool multi_label() const override { return false; }

 private:
  support::AttentionCase case_;
};

TEST(Subject, HidingAPositionTakesItsWeightAway) {
  OneAttention subject(support::plain_case(5, 4, false, 1));
  const SubjectOutput clean = subject.run({}, RecorderOptions::nothing());
  const SubjectOutput hidden = subject.run({HidePosition{.position = 2}}, {});
  EXPECT_NE(clean.logits.values<float>()[0], hidden.logits.values<float>()[0]);
  EXPECT_TRUE(clean.records.empty());
  EXPECT_EQ(hidden.records.front()->rule.mask.key_valid[2], 0);
}

TEST(Subject, WithoutAModelHasNoGradients) {
  OneAttention subject(support::plain_case(5, 4, false, 1));
  try {
    subject.gradient({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

TEST(Subject, StopsWhenCancelled) {
  OneAttention subject(support::plain_case(5, 4, false, 1));
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_THROW(subject.run({}, {}), Error);
}

}  // namespace
}  // namespace fovea
