#include "fovea/generate/word_scores.h"

#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/kernels/softmax.h"

namespace fovea {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

[[noreturn]] void fail_not_finite() {
  fail(ErrorKind::kBadFile,
       "the model's scores of the next word are not all finite; its weights are "
       "damaged");
}

}  // namespace

std::span<float> score_row(Tensor& scores, int64_t row) {
  const MatrixView<float> matrix = scores.mutable_matrix<float>();
  return {matrix.row(row), static_cast<size_t>(matrix.cols)};
}

int64_t best_word(std::span<const float> scores) {
  float best = -kInfinity;
  int64_t at = -1;
  bool finite = true;
  for (size_t i = 0; i < scores.size(); ++i) {
    finite &= scores[i] < kInfinity;  // false for NaN too
    if (scores[i] > best) {
      best = scores[i];
      at = static_cast<int64_t>(i);
    }
  }
  if (!finite) fail_not_finite();
  return at;
}

void log_softmax(std::span<float> scores, std::vector<float>& scratch) {
  const int64_t best = best_word(scores);
  if (best < 0) fail_not_finite();
  scratch.resize(scores.size());
  const int64_t count = std::ssize(scores);
  softmax_rows({scores.data(), 1, count}, {scratch.data(), 1, count});
  // The best word's weight is exp(0) / sum: more exact than a log-sum-exp rounded to f32.
  const float max = scores[static_cast<size_t>(best)];
  const float log_sum = -std::log(scratch[static_cast<size_t>(best)]);
  for (float& score : scores) score = (score - max) - log_sum;
}

}  // namespace fovea
