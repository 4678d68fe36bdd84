#include "fovea/explain/model_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "fovea/attention/softmax.h"
#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

// The inputs of the computation, all in f32.
struct Parts {
  const AttentionRecord& record;
  AttentionShape shape;
  Tensor queries, keys, values;

  explicit Parts(const AttentionRecord& from)
      : record(from),
        shape(from.shape()),
        queries(convert(from.queries, DType::kF32)),
        keys(convert(from.keys, DType::kF32)),
        values(convert(from.values, DType::kF32)) {}

  std::span<const float> query(int64_t head, int64_t row) const {
    return {queries.matrix<float>(head).row(row), static_cast<size_t>(shape.head_dim)};
  }
  std::span<const float> key(int64_t head, int64_t column) const {
    return {keys.matrix<float>(shape.kv_head(head)).row(column),
            static_cast<size_t>(shape.head_dim)};
  }
};

std::vector<double> doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

Matrix doubles(MatrixView<const float> view) {
  Matrix matrix(view.rows, view.cols);
  for (int64_t r = 0; r < view.rows; ++r) {
    std::copy_n(view.row(r), view.cols, matrix.row(r).begin());
  }
  return matrix;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    // NaN must not pass for "no difference".
    if (!(difference <= largest)) largest = std::isnan(difference) ? HUGE_VAL : difference;
  }
  return largest;
}

// s(j) of one row, as the model's rule says.
std::vector<double> rule_scores(const Parts& parts, const ScoreRule& rule, int64_t head,
                                int64_t row) {
  std::vector<double> scores;
  scores.reserve(static_cast<size_t>(parts.shape.cols));
  for (int64_t j = 0; j < parts.shape.cols; ++j) {
    scores.push_back(reference_score(rule, parts.shape, head, row, j, parts.query(head, row),
                                     parts.key(head, j)));
  }
  return scores;
}

// A sink takes part in the softmax, but is no key.
std::vector<double> step_weights(const ScoreRule& rule, int64_t head, std::vector<double> scores) {
  const size_t keys = scores.size();
  if (!rule.sink_logit.empty()) scores.push_back(rule.sink_logit[static_cast<size_t>(head)]);
  std::vector<double> weights = softmax(scores);
  weights.resize(keys);
  return weights;
}

std::vector<double> weighted_sum(std::span<const double> weights, const Matrix& values) {
  std::vector<double> sum(static_cast<size_t>(values.cols()));
  for (int64_t j = 0; j < values.rows(); ++j) {
    const auto value = values.row(j);
    for (size_t c = 0; c < sum.size(); ++c) sum[c] += weights[static_cast<size_t>(j)] * value[c];
  }
  return sum;
}

void compare_vectors(ModelSteps& steps) {
  const double q_length = std::sqrt(dot(steps.q, steps.q));
  const bool cosine = steps.similarity && std::holds_alternative<Cosine>(*steps.similarity);
  steps.products = Matrix(steps.shape.cols, steps.shape.head_dim);
  for (int64_t j = 0; j < steps.shape.cols; ++j) {
    const auto key = steps.k.row(j);
    const double lengths = cosine ? q_length * std::sqrt(dot(key, key)) : 1;
    const auto products = steps.products.row(j);
    for (size_t d = 0; d < products.size(); ++d) {
      products[d] = lengths == 0 ? 0 : steps.q[d] * key[d] / lengths;
    }
    steps.scores.push_back(std::accumulate(products.begin(), products.end(), 0.0));
  }
}

// Goes from the scores to the input of softmax, the model's way.
void apply_score_rule(const Parts& parts, ModelSteps& steps) {
  const ScoreRule& rule = parts.record.rule;
  if (!std::holds_alternative<std::monostate>(rule.bias)) {
    ScoreRule open = rule;
    open.soft_cap = 0;
    open.mask = {.query_offset = rule.mask.query_offset};
    open.cuts.clear();
    steps.bias = rule_scores(parts, open, steps.head, steps.row);
    for (size_t j = 0; j < steps.bias.size(); ++j) steps.bias[j] -= steps.scaled[j];
  }
  if (rule.soft_cap > 0) {
    ScoreRule open = rule;
    open.mask = {.query_offset = rule.mask.query_offset};
    open.cuts.clear();
    steps.capped = rule_scores(parts, open, steps.head, steps.row);
  }
  steps.masked = rule_scores(parts, rule, steps.head, steps.row);
  steps.weights = step_weights(rule, steps.head, steps.masked);
}

void apply_similarity(const Mask& mask, ModelSteps& steps) {
  steps.masked = steps.scaled;
  for (int64_t j = 0; j < steps.shape.cols; ++j) {
    if (!mask.allows(steps.row, j)) {
      steps.masked[static_cast<size_t>(j)] = -std::numeric_limits<double>::infinity();
    }
  }
  steps.weights = softmax(steps.masked);
}

void check_map(ModelSteps& steps) {
  steps.map_difference = largest_difference(steps.weights, steps.captured);
  if (steps.map_difference <= kStepsTolerance) return;
  fail(ErrorKind::kInternal,
       "{}, head {}, row {}: the captured map and softmax(q k) differ by {:.2g}, more than {:.0e}; "
       "please report this with the model and the input",
       to_string(steps.site), steps.head, steps.row, steps.map_difference, kStepsTolerance);
}

// W_O applied to part [begin, begin + part.size()) of the joined heads.
std::vector<double> project(MatrixView<const float> weight, int64_t begin,
                            std::span<const double> part) {
  std::vector<double> result(static_cast<size_t>(weight.rows));
  for (int64_t o = 0; o < weight.rows; ++o) {
    const float* row = weight.row(o) + begin;
    double sum = 0;
    for (size_t c = 0; c < part.size(); ++c) sum += double{row[c]} * part[c];
    result[static_cast<size_t>(o)] = sum;
  }
  return result;
}

void add_to(std::vector<double>& sum, std::span<const double> part) {
  for (size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}

// Every head by the definition, through W_O; and the same for what the model's heads gave.
void mix_head_outputs(const Parts& parts, ModelSteps& steps) {
  const BlockContext& block = *parts.record.block;
  const AttentionShape& shape = parts.shape;
  const Tensor weight = convert(block.output_weight, DType::kF32);
  std::vector<double> joined, own;
  Tensor outputs;
  if (!parts.record.output.empty()) outputs = convert(parts.record.output, DType::kF32);
  for (int64_t head = 0; head < shape.heads; ++head) {
    const Matrix values = doubles(parts.values.matrix<float>(shape.kv_head(head)));
    const std::vector<double> z =
        weighted_sum(step_weights(parts.record.rule, head,
                                  rule_scores(parts, parts.record.rule, head, steps.row)),
                     values);
    joined.insert(joined.end(), z.begin(), z.end());
    if (!outputs.empty()) {
      const float* given = outputs.matrix<float>(head).row(steps.row);
      own.insert(own.end(), given, given + shape.value_dim);
    }
  }
  steps.head_output = project(weight.matrix<float>(), steps.head * shape.value_dim, steps.z);
  steps.output = project(weight.matrix<float>(), 0, joined);
  if (!outputs.empty()) {
    steps.output_difference =
        largest_difference(steps.output, project(weight.matrix<float>(), 0, own));
  }
  if (!block.output_bias.empty()) {
    steps.output_bias = doubles(convert(block.output_bias, DType::kF32).values<float>());
    add_to(steps.output, steps.output_bias);
  }
}

void check_place(const AttentionRecord& record, int64_t head, int64_t row) {
  const AttentionShape shape = record.shape();
  if (head < 0 || head >= shape.heads) {
    fail(ErrorKind::kInvalidArgument, "{} has heads 0 to {} but {} was asked for",
         to_string(record.site), shape.heads - 1, head);
  }
  if (row < 0 || row >= shape.rows) {
    fail(ErrorKind::kInvalidArgument, "{} has rows 0 to {} but {} was asked for",
         to_string(record.site), shape.rows - 1, row);
  }
  if (record.values.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "{} was captured without its values, so there is no weighted sum; capture it with values",
         to_string(record.site));
  }
}

}  // namespace

bool ModelSteps::allowed(int64_t column) const {
  return std::isfinite(masked[static_cast<size_t>(column)]);
}

std::optional<int64_t> ModelSteps::rank_of(int64_t column) const {
  if (!allowed(column)) return {};
  const double own = weights[static_cast<size_t>(column)];
  return 1 + std::ranges::count_if(weights, [&](double weight) { return weight > own; });
}

ModelSteps model_steps(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                       int64_t row, const std::optional<Similarity>& similarity) {
  check_has_queries(*record, "its steps begin with");
  check_place(*record, head, row);
  const Parts parts(*record);
  ModelSteps steps{.site = record->site,
                   .shape = parts.shape,
                   .head = head,
                   .kv_head = parts.shape.kv_head(head),
                   .row = row,
                   .similarity = similarity};
  steps.q = doubles(parts.query(head, row));
  steps.k = doubles(parts.keys.matrix<float>(steps.kv_head));
  steps.v = doubles(parts.values.matrix<float>(steps.kv_head));
  compare_vectors(steps);
  steps.scale =
      similarity ? default_scale(*similarity, parts.shape.head_dim) : double{record->rule.scale};
  for (const double score : steps.scores) steps.scaled.push_back(steps.scale * score);
  for (const float weight : AttentionMap(record, head).row(row)) steps.captured.push_back(weight);
  if (similarity) {
    apply_similarity(record->rule.mask, steps);
  } else {
    apply_score_rule(parts, steps);
    check_map(steps);
  }
  steps.sum = std::accumulate(steps.weights.begin(), steps.weights.end(), 0.0);
  steps.z = weighted_sum(steps.weights, steps.v);
  if (record->block) {
    const BlockContext& block = *record->block;
    steps.block = true;
    // A norm over what attention gives alone (Gemma) comes beside one before it.
    steps.pre_norm = (block.norm_weight.empty() || block.norm_before_residual) &&
                     record->site.kind != SiteKind::kPool;
    steps.query_bias = !block.query_bias.empty();
    steps.key_bias = !block.key_bias.empty();
    steps.value_bias = !block.value_bias.empty();
    if (!block.input.empty()) {
      const Tensor input = convert(block.input, DType::kF32);
      steps.x = doubles({input.matrix<float>().row(row), static_cast<size_t>(input.size(1))});
    }
    if (!similarity) mix_head_outputs(parts, steps);
  }
  return steps;
}

}  // namespace fovea
