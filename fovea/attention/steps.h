// Attention of a set of vectors with every number kept, in two forms that share no arithmetic:
// vector by vector as it is explained, and in whole matrices as it is computed.
//
//   q_i = x_i Wq      k_j = u_j Wk      v_j = u_j Wv            (+ biases; split into heads)
//   score(i, j)  = similarity(q_i, k_j)
//   scaled(i, j) = scale * score(i, j)                          -infinity where the mask forbids
//   weight(i, .) = softmax(scaled(i, .) / temperature)          0 in a row that sees nothing
//   z_i = sum_j weight(i, j) v_j                                y_i = [z_i of all heads] Wo
//
// Vectors are rows: a weight has one row per number that comes in, one column per number that goes
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/attention/similarity.h"

namespace fovea {

// x W + b. No weight is the identity, no bias is zero.
struct Projection {
  std::optional<Matrix> weight;
  std::vector<double> bias;
};

struct AttentionProblem {
  Matrix inputs;                 // x: the vectors that ask, one per row
  std::optional<Matrix> source;  // u: the vectors that answer (cross-attention); none: the inputs
  Projection query;              // Wq, bq
  Projection key;                // Wk, bk
  Projection value;              // Wv, bv
  Projection output;             // Wo, bo
  int64_t heads = 1;             // head h has the h-th part of the columns of q, k and v
  Similarity similarity = ScaledDotProduct{};
  std::optional<double> scale;  // none: the similarity's own
  double temperature = 1;       // 0: all weight on the best key
  std::optional<Matrix> mask;   // [inputs x source], 0 where a query may not see a key

  const Matrix& sources() const { return source ? *source : inputs; }
  int64_t head_width() const;  // the width of q and k in a head
  double effective_scale() const;
};

struct HeadSteps {
  Matrix q, k, v;
  Matrix scores;
  Matrix scaled;
  Matrix masked;  // -infinity where forbidden
  Matrix weights;
  std::vector<double> row_sums;  // sums of the weights: 1, or 0 if a query sees nothing
  Matrix mixed;                  // z, the weighted sums
};

struct AttentionSteps {
  std::vector<HeadSteps> heads;
  Matrix joined;  // the heads' z side by side
  Matrix output;
};

// Query i may see keys 0 to i.
Matrix causal_mask(int64_t size);

// Throws Error{kInvalidArgument}, naming Wq, bq, mask and so on, unless all parts fit together.
void validate(const AttentionProblem& problem);

// Both validate first. Cost: inputs * sources * width, and memory for heads * inputs * sources.
AttentionSteps attend_by_vectors(const AttentionProblem& problem);
AttentionSteps attend_by_matrices(const AttentionProblem& problem);

// The largest difference between two results, over every intermediate.
double max_difference(const AttentionSteps& a, const AttentionSteps& b);

}  // namespace fovea
