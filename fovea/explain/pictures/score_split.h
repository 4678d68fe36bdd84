// Why a position attends to another: splits its score into parts from content and parts from
// positions (DETR adds positions to the inputs of Q and K in every layer).
//
//   q = qc + qp, k = kc + kp       c: content with the bias, p: Wq p_i and Wk p_j
//   s = scale (qc.kc + qc.kp + qp.kc + qp.kp)
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/capture/attention_record.h"

namespace fovea {

// One dimension's part of the score.
struct DimensionProduct {
  int64_t dimension = 0;
  double query = 0;
  double key = 0;
  double product = 0;  // scale * query * key
};

struct ScoreSplit {
  int64_t head = 0;
  double content_content = 0;
  double content_position = 0;  // the query's content with the key's position
  double position_content = 0;
  double position_position = 0;
  double score = 0;                          // the sum of the four
  double weight = 0;                         // after the softmax; 0 where the mask forbids it
  std::vector<DimensionProduct> dimensions;  // all of them, the largest |product| first
};

// Splits a score. `position_queries` [heads, rows, head_dim] and `position_keys` [kv_heads, cols,
// head_dim] are the parts of the record's Q and K that positions made. Throws
// Error{kInvalidArgument} if they do not fit or there is no such head, row or column, and
// Error{kUnsupported} if the score has other parts (a bias, a soft cap).
ScoreSplit split_score(const AttentionRecord& record, const Tensor& position_queries,
                       const Tensor& position_keys, int64_t head, int64_t row, int64_t col);

}  // namespace fovea
