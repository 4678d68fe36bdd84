// Mixtures of experts: a router gives each token to a few of many feed-forward parts (Shazeer et
// al. 2017, arXiv:1701.06538; Jiang et al. 2024, arXiv:2401.04088).
#pragma once

#include <string_view>
#include <vector>

#include "fovea/layers/layer_source.h"
#include "fovea/layers/pass.h"
#include "fovea/ops/rows.h"

namespace fovea {

// Two projections and what is between them. With one matrix of both, rows of the gate and of the
// other take turns (gpt-oss).
struct Expert {
  std::vector<ops::Linear> in;  // gate and up, or both in one
  ops::Linear down;
};

// What the experts of a model compute: activation(gate) * up, or gpt-oss's: both cut off at
// `limit`, and gate * sigmoid(slope * gate) * (up + 1).
struct ExpertActivation {
  Activation activation = Activation::kSilu;
  float limit = 0;  // 0: the plain one
  float slope = 1;
};

class ExpertFeedForward {
 public:
  // Each token goes to the `taken` experts with the largest scores; a softmax of the scores weighs
  // what they give.
  ExpertFeedForward(ops::Linear router, std::vector<Expert> experts, int64_t taken,
                    ops::SoftmaxOver over, ExpertActivation activation)
      : router_(std::move(router)),
        experts_(std::move(experts)),
        taken_(taken),
        over_(over),
        activation_(activation) {}

  // The result plus `residual`. Notes in the pass's recorder who went where.
  Value operator()(const Pass& pass, SiteId site, const Value& x, const Value& residual) const;

 private:
  Value run_expert(const Expert& expert, const Value& x) const;

  ops::Linear router_;
  std::vector<Expert> experts_;
  int64_t taken_;
  ops::SoftmaxOver over_;
  ExpertActivation activation_;
};

// How many experts there are, and how many each token goes to. Throws Error{kBadFile} for numbers
// that no model has.
struct ExpertCounts {
  int64_t experts = 0;
  int64_t taken = 0;
  static ExpertCounts of(const Config& config, std::string_view experts_key,
                         std::string_view taken_key, int64_t taken_otherwise);
};

// What files call them: "experts.3.w1.weight", or all experts in one tensor, "experts.w1.weight"
// [experts, rows, columns], or gates and ups of all in one, "experts.gate_up_proj".
struct ExpertNames {
  std::string_view gate = "gate_proj", up = "up_proj", down = "down_proj";
};
std::vector<Expert> load_experts(const LayerSource& source, int64_t experts, int64_t width,
                                 int64_t inner, const ExpertNames& names);

}  // namespace fovea
