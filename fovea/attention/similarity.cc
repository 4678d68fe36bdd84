#include "fovea/attention/similarity.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/overloaded.h"

namespace fovea {
namespace {

// Divided by the largest entry first, so that squares neither overflow nor vanish.
std::vector<double> unit_vector(std::span<const double> vector) {
  double largest = 0;
  for (const double value : vector) largest = std::max(largest, std::abs(value));
  std::vector<double> unit(vector.begin(), vector.end());
  if (largest == 0) return unit;
  for (double& value : unit) value /= largest;
  const double norm = std::sqrt(dot(unit, unit));
  for (double& value : unit) value /= norm;
  return unit;
}

Matrix unit_rows(const Matrix& matrix) {
  Matrix result(matrix.rows(), matrix.cols());
  for (int64_t r = 0; r < matrix.rows(); ++r) {
    std::ranges::copy(unit_vector(matrix.row(r)), result.row(r).begin());
  }
  return result;
}

double additive_score(const Additive& additive, std::span<const double> query,
                      std::span<const double> key) {
  double sum = 0;
  for (size_t h = 0; h < additive.vector.size(); ++h) {
    const auto hidden = static_cast<int64_t>(h);
    double before = 0;
    for (size_t c = 0; c < query.size(); ++c) {
      before += query[c] * additive.query_weight(static_cast<int64_t>(c), hidden);
    }
    for (size_t c = 0; c < key.size(); ++c) {
      before += key[c] * additive.key_weight(static_cast<int64_t>(c), hidden);
    }
    sum += additive.vector[h] * std::tanh(before);
  }
  return sum;
}

Matrix additive_matrix(const Additive& additive, const Matrix& queries, const Matrix& keys) {
  const Matrix query_part = multiply(queries, additive.query_weight);
  const Matrix key_part = multiply(keys, additive.key_weight);
  Matrix scores(queries.rows(), keys.rows());
  for (size_t h = 0; h < additive.vector.size(); ++h) {
    const auto hidden = static_cast<int64_t>(h);
    for (int64_t i = 0; i < scores.rows(); ++i) {
      for (int64_t j = 0; j < scores.cols(); ++j) {
        scores(i, j) += additive.vector[h] * std::tanh(query_part(i, hidden) + key_part(j, hidden));
      }
    }
  }
  return scores;
}

}  // namespace

std::string_view name_of(const Similarity& similarity) {
  return std::visit(
      Overloaded{[](const ScaledDotProduct&) { return "scaled"; },
                 [](const DotProduct&) { return "dot"; }, [](const Cosine&) { return "cosine"; },
                 [](const Additive&) { return "additive"; }},
      similarity);
}

std::string_view formula_of(const Similarity& similarity) {
  return std::visit(Overloaded{[](const ScaledDotProduct&) { return "q · k"; },
                               [](const DotProduct&) { return "q · k"; },
                               [](const Cosine&) { return "q · k / (|q| |k|)"; },
                               [](const Additive&) { return "v · tanh(q Wa_q + k Wa_k)"; }},
                    similarity);
}

double default_scale(const Similarity& similarity, int64_t width) {
  if (!std::holds_alternative<ScaledDotProduct>(similarity)) return 1;
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(width, 1)));
}

void validate(const Similarity& similarity, int64_t query_width, int64_t key_width) {
  const auto* additive = std::get_if<Additive>(&similarity);
  if (additive == nullptr) {
    if (query_width != key_width) {
      fail(ErrorKind::kInvalidArgument,
           "queries have width {} but keys have width {}; {} needs the same width", query_width,
           key_width, name_of(similarity));
    }
    return;
  }
  const auto hidden = static_cast<int64_t>(additive->vector.size());
  const auto check = [&](std::string_view name, const Matrix& weight, int64_t width) {
    if (weight.rows() != width || weight.cols() != hidden) {
      fail(ErrorKind::kInvalidArgument,
           "{} is {} but must be [{} x {}]: the width of one head by the length of v", name,
           to_string(weight), width, hidden);
    }
  };
  check("Wa_q", additive->query_weight, query_width);
  check("Wa_k", additive->key_weight, key_width);
}

double dot(std::span<const double> a, std::span<const double> b) {
  FOVEA_ASSERT(a.size() == b.size());
  double sum = 0;
  for (size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

double raw_score(const Similarity& similarity, std::span<const double> query,
                 std::span<const double> key) {
  validate(similarity, static_cast<int64_t>(query.size()), static_cast<int64_t>(key.size()));
  return std::visit(
      Overloaded{[&](const ScaledDotProduct&) { return dot(query, key); },
                 [&](const DotProduct&) { return dot(query, key); },
                 [&](const Cosine&) { return dot(unit_vector(query), unit_vector(key)); },
                 [&](const Additive& additive) { return additive_score(additive, query, key); }},
      similarity);
}

double score(const Similarity& similarity, std::span<const double> query,
             std::span<const double> key) {
  return default_scale(similarity, static_cast<int64_t>(query.size())) *
         raw_score(similarity, query, key);
}

Matrix raw_score_matrix(const Similarity& similarity, const Matrix& queries, const Matrix& keys) {
  validate(similarity, queries.cols(), keys.cols());
  const auto product = [](const Matrix& q, const Matrix& k) { return multiply(q, transpose(k)); };
  return std::visit(
      Overloaded{
          [&](const ScaledDotProduct&) { return product(queries, keys); },
          [&](const DotProduct&) { return product(queries, keys); },
          [&](const Cosine&) { return product(unit_rows(queries), unit_rows(keys)); },
          [&](const Additive& additive) { return additive_matrix(additive, queries, keys); }},
      similarity);
}

}  // namespace fovea
