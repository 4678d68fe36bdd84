// The attention of one token of a captured run with every number on the way. All are computed again
// in double by the plain definition (fovea/attention) and compared with the captured map.
//
//   products(j, d) = q_d k_jd        scores(j)  = sum_d products(j, d)
//   scaled(j)      = scale * scores(j)
//   biased(j)      = scaled(j) + bias(j)                  where the model has a bias
//   capped(j)      = cap * tanh(biased(j) / cap)          where the model caps
//   masked(j)      = -infinity where the mask forbids     weights = softmax(masked)
//   z = sum_j weights(j) v_j                              head_output = W_O's part of the head * z
//   output = sum of all heads' parts + b_O
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/attention/similarity.h"
#include "fovea/capture/attention_record.h"

namespace fovea {

// A map that differs more than this from the definition is wrong.
inline constexpr double kStepsTolerance = 1e-5;

struct ModelSteps {
  SiteId site;
  AttentionShape shape;
  int64_t head = 0;
  int64_t kv_head = 0;  // the key head that this head uses
  int64_t row = 0;
  // How q and k were compared, if not by the model's own way. Then there is no bias, no cap and no
  // output.
  std::optional<Similarity> similarity;

  std::vector<double> x;  // what entered the block, [width]; empty if not kept or not the query's
  bool block = false;     // whether the record says how q, k and v were made
  bool pre_norm = false;  // q, k and v are made from norm(x)
  bool query_bias = false, key_bias = false, value_bias = false;  // whether q, k or v has a bias
  std::vector<double> q;                                          // [head_dim]
  Matrix k;                                                       // [cols x head_dim]
  Matrix v;                                                       // [cols x value_dim]
  Matrix products;  // [cols x head_dim]; under Cosine each over |q| |k_j|
  double scale = 1;
  std::vector<double> scores;  // [cols], like the next lists
  std::vector<double> scaled;
  std::vector<double> bias;    // empty: none
  std::vector<double> capped;  // empty: none
  std::vector<double> masked;
  std::vector<double> weights;
  double sum = 0;                   // of the weights: 1; 0 if no key is seen; less with a sink
  std::vector<double> captured;     // the row of the captured map
  double map_difference = 0;        // largest |weights - captured|; 0 under another similarity
  std::vector<double> z;            // [value_dim]
  std::vector<double> head_output;  // [width]; this and the next are empty without the block
  std::vector<double> output_bias;  // empty: none
  std::vector<double> output;
  // The largest difference between `output` and W_O times the model's own head outputs, if those
  // were kept.
  std::optional<double> output_difference;

  int64_t width() const { return static_cast<int64_t>(output.size()); }
  bool allowed(int64_t column) const;
  // The rank of a column by weight: 1 for the largest. None for a column that the mask hides.
  std::optional<int64_t> rank_of(int64_t column) const;
};

// Computes the steps. The record must hold values; block and output are used if they are there.
// With `similarity`, q and k are compared by it instead; the model's bias, cap and scale are left
// out, the mask stays. Throws Error{kInvalidArgument} if there is no such head or row or no values,
// and Error{kInternal} if the captured map is not what the definition gives.
ModelSteps model_steps(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                       int64_t row, const std::optional<Similarity>& similarity = {});

}  // namespace fovea
