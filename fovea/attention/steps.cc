#include "fovea/attention/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "fovea/attention/softmax.h"

namespace fovea {
namespace {

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

int64_t width_after(const Projection& projection, int64_t width) {
  return projection.weight ? projection.weight->cols() : width;
}

void check_projection(std::string_view weight_name, std::string_view bias_name,
                      const Projection& projection, std::string_view what, int64_t width) {
  if (projection.weight && projection.weight->rows() != width) {
    fail(ErrorKind::kInvalidArgument, "{} has {} rows but {} have width {}; give it {} rows",
         weight_name, projection.weight->rows(), what, width, width);
  }
  const int64_t out = width_after(projection, width);
  if (!projection.bias.empty() && static_cast<int64_t>(projection.bias.size()) != out) {
    fail(ErrorKind::kInvalidArgument, "{} has {} numbers but {} gives {}; give one for each",
         bias_name, projection.bias.size(), weight_name, out);
  }
}

void check_heads(std::string_view what, int64_t heads, int64_t width) {
  if (width < 1 || width % heads != 0) {
    fail(ErrorKind::kInvalidArgument,
         "{} heads cannot share {} of width {} evenly; choose heads that divide {}", heads, what,
         width, width);
  }
}

void check_mask(const AttentionProblem& problem) {
  if (!problem.mask) return;
  const Matrix& mask = *problem.mask;
  if (mask.rows() != problem.inputs.rows() || mask.cols() != problem.sources().rows()) {
    fail(ErrorKind::kInvalidArgument,
         "mask is {} but there are {} queries and {} keys; give it one row per query",
         to_string(mask), problem.inputs.rows(), problem.sources().rows());
  }
  for (const double entry : mask.values()) {
    if (entry != 0 && entry != 1) {
      fail(ErrorKind::kInvalidArgument, "mask holds {}; use 1 for allowed and 0 for forbidden",
           entry);
    }
  }
}

bool allows(const AttentionProblem& problem, int64_t query, int64_t key) {
  return !problem.mask || (*problem.mask)(query, key) != 0;
}

// Entry `column` of x W + b, for one vector x.
double project_entry(const Projection& projection, std::span<const double> vector, int64_t column) {
  double sum = projection.bias.empty() ? 0 : projection.bias[static_cast<size_t>(column)];
  if (!projection.weight) return sum + vector[static_cast<size_t>(column)];
  for (size_t c = 0; c < vector.size(); ++c) {
    sum += vector[c] * (*projection.weight)(static_cast<int64_t>(c), column);
  }
  return sum;
}

// One head's part of the projection, one vector after the other.
Matrix project_head(const Projection& projection, const Matrix& vectors, int64_t head,
                    int64_t heads) {
  const int64_t width = width_after(projection, vectors.cols()) / heads;
  Matrix part(vectors.rows(), width);
  for (int64_t i = 0; i < vectors.rows(); ++i) {
    for (int64_t c = 0; c < width; ++c) {
      part(i, c) = project_entry(projection, vectors.row(i), head * width + c);
    }
  }
  return part;
}

// Everything that happens to query i of one head.
void attend_one(const AttentionProblem& problem, int64_t i, HeadSteps& head) {
  const double scale = problem.effective_scale();
  for (int64_t j = 0; j < head.k.rows(); ++j) {
    head.scores(i, j) = raw_score(problem.similarity, head.q.row(i), head.k.row(j));
    head.scaled(i, j) = scale * head.scores(i, j);
    head.masked(i, j) = allows(problem, i, j) ? head.scaled(i, j) : kForbidden;
  }
  const std::vector<double> weights = softmax(head.masked.row(i), problem.temperature);
  double sum = 0;
  for (int64_t j = 0; j < head.k.rows(); ++j) {
    const double weight = weights[static_cast<size_t>(j)];
    head.weights(i, j) = weight;
    sum += weight;
    for (int64_t c = 0; c < head.v.cols(); ++c) head.mixed(i, c) += weight * head.v(j, c);
  }
  head.row_sums.push_back(sum);
}

// x W + b for all vectors at once.
Matrix project_all(const Projection& projection, const Matrix& vectors) {
  Matrix result = projection.weight ? multiply(vectors, *projection.weight) : vectors;
  if (projection.bias.empty()) return result;
  const Matrix ones(vectors.rows(), 1, 1.0);
  const Matrix bias = multiply(ones, Matrix::from_rows({projection.bias}));
  for (int64_t r = 0; r < result.rows(); ++r) {
    for (int64_t c = 0; c < result.cols(); ++c) result(r, c) += bias(r, c);
  }
  return result;
}

Matrix head_part(const Matrix& matrix, int64_t head, int64_t heads) {
  const int64_t width = matrix.cols() / heads;
  return slice_columns(matrix, head * width, width);
}

}  // namespace

int64_t AttentionProblem::head_width() const {
  return width_after(query, inputs.cols()) / std::max<int64_t>(heads, 1);
}

double AttentionProblem::effective_scale() const {
  return scale ? *scale : default_scale(similarity, head_width());
}

Matrix causal_mask(int64_t size) {
  Matrix mask(size, size);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j <= i; ++j) mask(i, j) = 1;
  }
  return mask;
}

void validate(const AttentionProblem& problem) {
  const Matrix& sources = problem.sources();
  if (problem.inputs.empty() || sources.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "inputs are {} and source is {}; give at least one vector of at least one number each",
         to_string(problem.inputs), to_string(sources));
  }
  if (problem.heads < 1) {
    fail(ErrorKind::kInvalidArgument, "heads is {}; it must be 1 or more", problem.heads);
  }
  const std::string_view source_name = problem.source ? "source vectors" : "inputs";
  check_projection("Wq", "bq", problem.query, "inputs", problem.inputs.cols());
  check_projection("Wk", "bk", problem.key, source_name, sources.cols());
  check_projection("Wv", "bv", problem.value, source_name, sources.cols());
  const int64_t query_width = width_after(problem.query, problem.inputs.cols());
  const int64_t key_width = width_after(problem.key, sources.cols());
  const int64_t value_width = width_after(problem.value, sources.cols());
  check_heads("queries", problem.heads, query_width);
  check_heads("keys", problem.heads, key_width);
  check_heads("values", problem.heads, value_width);
  validate(problem.similarity, query_width / problem.heads, key_width / problem.heads);
  check_projection("Wo", "bo", problem.output, "the joined heads", value_width);
  if (problem.scale && !std::isfinite(*problem.scale)) {
    fail(ErrorKind::kInvalidArgument, "scale is {}; it must be a finite number", *problem.scale);
  }
  check_mask(problem);
}

AttentionSteps attend_by_vectors(const AttentionProblem& problem) {
  validate(problem);
  const Matrix& sources = problem.sources();
  AttentionSteps steps;
  for (int64_t h = 0; h < problem.heads; ++h) {
    HeadSteps head;
    head.q = project_head(problem.query, problem.inputs, h, problem.heads);
    head.k = project_head(problem.key, sources, h, problem.heads);
    head.v = project_head(problem.value, sources, h, problem.heads);
    const Matrix cells(problem.inputs.rows(), sources.rows());
    head.scores = head.scaled = head.masked = head.weights = cells;
    head.mixed = Matrix(problem.inputs.rows(), head.v.cols());
    for (int64_t i = 0; i < problem.inputs.rows(); ++i) attend_one(problem, i, head);
    steps.heads.push_back(std::move(head));
  }
  const int64_t head_width = steps.heads.front().v.cols();
  steps.joined = Matrix(problem.inputs.rows(), head_width * problem.heads);
  steps.output = Matrix(problem.inputs.rows(), width_after(problem.output, steps.joined.cols()));
  for (int64_t i = 0; i < steps.joined.rows(); ++i) {
    for (int64_t c = 0; c < steps.joined.cols(); ++c) {
      steps.joined(i, c) =
          steps.heads[static_cast<size_t>(c / head_width)].mixed(i, c % head_width);
    }
    for (int64_t c = 0; c < steps.output.cols(); ++c) {
      steps.output(i, c) = project_entry(problem.output, steps.joined.row(i), c);
    }
  }
  return steps;
}

AttentionSteps attend_by_matrices(const AttentionProblem& problem) {
  validate(problem);
  const Matrix q = project_all(problem.query, problem.inputs);
  const Matrix k = project_all(problem.key, problem.sources());
  const Matrix v = project_all(problem.value, problem.sources());
  AttentionSteps steps;
  std::vector<Matrix> mixed;
  for (int64_t h = 0; h < problem.heads; ++h) {
    HeadSteps head;
    head.q = head_part(q, h, problem.heads);
    head.k = head_part(k, h, problem.heads);
    head.v = head_part(v, h, problem.heads);
    head.scores = raw_score_matrix(problem.similarity, head.q, head.k);
    head.scaled = head.scores;
    for (int64_t r = 0; r < head.scaled.rows(); ++r) {
      for (double& entry : head.scaled.row(r)) entry *= problem.effective_scale();
    }
    head.masked = head.scaled;
    if (problem.mask) {
      for (int64_t r = 0; r < head.masked.rows(); ++r) {
        const auto mask = problem.mask->row(r);
        std::ranges::transform(head.masked.row(r), mask, head.masked.row(r).begin(),
                               [](double s, double m) { return m == 0 ? kForbidden : s; });
      }
    }
    head.weights = softmax_rows(head.masked, problem.temperature);
    head.row_sums = multiply(head.weights, Matrix(head.weights.cols(), 1, 1.0)).column(0);
    head.mixed = multiply(head.weights, head.v);
    mixed.push_back(head.mixed);
    steps.heads.push_back(std::move(head));
  }
  steps.joined = join_columns(mixed);
  steps.output = project_all(problem.output, steps.joined);
  return steps;
}

double max_difference(const AttentionSteps& a, const AttentionSteps& b) {
  if (a.heads.size() != b.heads.size()) {
    fail(ErrorKind::kInvalidArgument, "results of {} and {} heads cannot be compared",
         a.heads.size(), b.heads.size());
  }
  double largest = std::max(max_difference(a.joined, b.joined), max_difference(a.output, b.output));
  for (size_t h = 0; h < a.heads.size(); ++h) {
    const HeadSteps& x = a.heads[h];
    const HeadSteps& y = b.heads[h];
    for (const auto part :
         {&HeadSteps::q, &HeadSteps::k, &HeadSteps::v, &HeadSteps::scores, &HeadSteps::scaled,
          &HeadSteps::masked, &HeadSteps::weights, &HeadSteps::mixed}) {
      largest = std::max(largest, max_difference(x.*part, y.*part));
    }
    largest = std::max(
        largest, max_difference(Matrix::from_rows({x.row_sums}), Matrix::from_rows({y.row_sums})));
  }
  return largest;
}

}  // namespace fovea
