#include "fovea/explain/target.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "fovea/base/error.h"

namespace fovea {
namespace {

void check_range(std::string_view what, int64_t index, int64_t count) {
  if (index >= 0 && index < count) return;
  fail(ErrorKind::kInvalidArgument, "{} {} is asked about but the output has 0 to {}", what, index,
       count - 1);
}

// The scores that the target is one of, and its place among them.
struct Candidates {
  std::span<const float> logits;
  int64_t index = 0;
};

Candidates row_of(const Tensor& logits, std::string_view what, int64_t row, int64_t index,
                  std::string_view entry) {
  const MatrixView<const float> rows = logits.matrix<float>();
  // A run that was asked for the last row alone gives one.
  if (rows.rows > 1) check_range(what, row, rows.rows);
  check_range(entry, index, rows.cols);
  return {{rows.row(rows.rows > 1 ? row : 0), static_cast<size_t>(rows.cols)}, index};
}

Candidates candidates(const Target& target, const SubjectOutput& output) {
  if (output.logits.empty()) {
    fail(ErrorKind::kUnsupported, Field{"against"},
         "the model gives no classes or words to ask about; give a text to be similar to");
  }
  if (const auto* token = std::get_if<TokenTarget>(&target)) {
    return row_of(output.logits, "position", token->position, token->token, "token");
  }
  if (const auto* box = std::get_if<BoxTarget>(&target)) {
    return row_of(output.logits, "query", box->query, box->index, "class");
  }
  const int64_t index = std::get<ClassTarget>(target).index;
  check_range("class", index, output.logits.elements());
  return {output.logits.values<float>(), index};
}

double similarity(const SimilarityTarget& target, const SubjectOutput& output) {
  if (output.embedding.elements() != static_cast<int64_t>(target.against.size())) {
    fail(ErrorKind::kInvalidArgument,
         "the vector to compare with has {} numbers but the model's embedding has {}",
         target.against.size(), output.embedding.elements());
  }
  return cosine(output.embedding.values<float>(), target.against);
}

}  // namespace

double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0, length_a = 0, length_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * double{b[i]};
    length_a += double{a[i]} * double{a[i]};
    length_b += double{b[i]} * double{b[i]};
  }
  const double length = std::sqrt(length_a * length_b);
  return length > 0 ? product / length : 0;
}

std::vector<double> probabilities(std::span<const float> logits) {
  std::vector<double> shares(logits.begin(), logits.end());
  const double most = std::ranges::max(shares);
  for (double& share : shares) share = std::exp(share - most);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

double sigmoid(double logit) {
  return 1 / (1 + std::exp(-logit));
}

double target_value(const Target& target, const SubjectOutput& output, TargetMeasure measure,
                    bool multi_label) {
  if (const auto* wanted = std::get_if<SimilarityTarget>(&target)) {
    return similarity(*wanted, output);
  }
  const Candidates of = candidates(target, output);
  const double logit = double{of.logits[static_cast<size_t>(of.index)]};
  if (measure == TargetMeasure::kLogit) return logit;
  return multi_label ? sigmoid(logit) : probabilities(of.logits)[static_cast<size_t>(of.index)];
}

double contrast_value(const Target& target, const Target& against, const SubjectOutput& output,
                      TargetMeasure measure) {
  const double apart = target_value(target, output, TargetMeasure::kLogit) -
                       target_value(against, output, TargetMeasure::kLogit);
  const bool similar = std::holds_alternative<SimilarityTarget>(target);
  return measure == TargetMeasure::kLogit || similar ? apart : sigmoid(apart);
}

std::optional<int64_t> preferred_answer(const Target& target, const SubjectOutput& output) {
  if (std::holds_alternative<SimilarityTarget>(target)) return {};
  const Candidates of = candidates(target, output);
  return std::ranges::max_element(of.logits) - of.logits.begin();
}

double box_overlap(const BoxTarget& target, const SubjectOutput& a, const SubjectOutput& b) {
  if (a.boxes.empty() || b.boxes.empty()) {
    fail(ErrorKind::kUnsupported, "the model gives no boxes to ask about");
  }
  check_range("query", target.query, a.boxes.size(0));
  const float* one = a.boxes.matrix<float>().row(target.query);
  const float* other = b.boxes.matrix<float>().row(target.query);
  double common = 1, area_one = 1, area_other = 1;  // centre x and y, width, height
  for (int side = 0; side < 2; ++side) {
    const double low = std::max(double{one[side]} - double{one[side + 2]} / 2,
                                double{other[side]} - double{other[side + 2]} / 2);
    const double high = std::min(double{one[side]} + double{one[side + 2]} / 2,
                                 double{other[side]} + double{other[side + 2]} / 2);
    common *= std::max(0.0, high - low);
    area_one *= double{one[side + 2]};
    area_other *= double{other[side + 2]};
  }
  const double all = area_one + area_other - common;
  return all > 0 ? common / all : 0;
}

}  // namespace fovea
