// How alike a query and a key are, as one number: the raw score of attention.
#pragma once

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/attention/matrix.h"

namespace fovea {

// q . k
struct DotProduct {};
// q . k / sqrt(width) (Vaswani et al. 2017, arXiv:1706.03762): the size of a score then does not
// grow with the width of the vectors.
struct ScaledDotProduct {};
// q . k / (|q| |k|), between -1 and 1; 0 where either vector is zero.
struct Cosine {};
// v . tanh(q Wq + k Wk), a small neural network (Bahdanau et al. 2015, arXiv:1409.0473).
struct Additive {
  Matrix query_weight;         // [query width x hidden]
  Matrix key_weight;           // [key width x hidden]
  std::vector<double> vector;  // [hidden]
};

using Similarity = std::variant<ScaledDotProduct, DotProduct, Cosine, Additive>;

std::string_view name_of(const Similarity& similarity);     // "scaled", "dot", "cosine", "additive"
std::string_view formula_of(const Similarity& similarity);  // the raw score

// What the raw score is multiplied with: 1 / sqrt(width) for ScaledDotProduct, 1 for the others.
double default_scale(const Similarity& similarity, int64_t width);

// Throws Error{kInvalidArgument} unless the similarity can compare vectors of these widths.
void validate(const Similarity& similarity, int64_t query_width, int64_t key_width);

// The number before scaling, from two vectors. Throws as validate does.
double raw_score(const Similarity& similarity, std::span<const double> query,
                 std::span<const double> key);
// default_scale * raw_score.
double score(const Similarity& similarity, std::span<const double> query,
             std::span<const double> key);
// raw_score of every query (row) with every key (column), from whole matrices.
Matrix raw_score_matrix(const Similarity& similarity, const Matrix& queries, const Matrix& keys);

double dot(std::span<const double> a, std::span<const double> b);

}  // namespace fovea
