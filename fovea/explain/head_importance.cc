#include "fovea/explain/head_importance.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {

std::vector<double> head_importance(const AttentionRecord& record) {
  if (record.output.empty() || record.output_gradient.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "{} was captured without {}; run a gradient method, which captures both",
         to_string(record.site), record.output.empty() ? "outputs" : "an output gradient");
  }
  const Tensor output = convert(record.output, DType::kF32);
  const Tensor gradient = convert(record.output_gradient, DType::kF32);
  std::vector<double> importance;
  for (int64_t head = 0; head < output.size(0); ++head) {
    const MatrixView<const float> out = output.matrix<float>(head);
    const MatrixView<const float> slope = gradient.matrix<float>(head);
    double sum = 0;
    for (int64_t row = 0; row < out.rows; ++row) {
      for (int64_t c = 0; c < out.cols; ++c) sum += double{out(row, c)} * double{slope(row, c)};
    }
    importance.push_back(std::abs(sum));
  }
  return importance;
}

void normalise_layer(std::span<double> heads) {
  double square = 0;
  for (const double head : heads) square += head * head;
  if (square == 0) return;
  for (double& head : heads) head /= std::sqrt(square);
}

}  // namespace fovea
