// Applies the changes of a run (capture/subject.h) inside an attention.
#pragma once

#include <memory>
#include <vector>

#include "fovea/capture/subject.h"
#include "fovea/layers/attend.h"

namespace fovea {

// What one attention reads.
struct AttentionParts {
  Value queries;  // [heads, rows, head_dim]
  Value keys;     // [kv_heads, cols, head_dim]
  Value values;   // [kv_heads, cols, value_dim]
  std::shared_ptr<const ScoreRule> rule;
  DType compute = DType::kF32;  // or I16: queries and keys are rounded for it
};

class Interventions {
 public:
  explicit Interventions(std::vector<Intervention> changes) : changes_(std::move(changes)) {}

  // Applies hidden positions, cut edges, zeroed values and even heads before anything is computed.
  // Throws Error{kInvalidArgument} for a position or head that is not there.
  AttentionParts before(const AttentionPlace& place, AttentionParts parts) const;
  // Applies silenced and scaled heads to `output` [heads, rows, value_dim].
  Tensor after(const AttentionPlace& place, Tensor output) const;

 private:
  std::vector<Intervention> changes_;
};

}  // namespace fovea
