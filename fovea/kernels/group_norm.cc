#include "fovea/kernels/group_norm.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernels/parallel_rows.h"

namespace fovea {
namespace {

// Sums of eight lanes, so that the compiler may add several numbers at once.
template <typename Term>
double lane_sum(const float* values, int64_t count, const Term& term) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(values[i + lane]);
  }
  double sum = 0;
  for (; i < count; ++i) sum += term(values[i]);
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void group_norm(Tensor& x, int64_t groups, std::span<const float> weight,
                std::span<const float> bias, float epsilon, Activation activation) {
  const bool picture = x.rank() == 4 && x.dtype() == DType::kF32;
  const int64_t channels = picture ? x.size(1) : 0;
  if (!picture || groups < 1 || channels % groups != 0 ||
      static_cast<int64_t>(weight.size()) != channels || weight.size() != bias.size()) {
    fail(ErrorKind::kInvalidArgument,
         "group norm of {} in {} groups with {} weights and {} biases; wanted are F32 [batch, "
         "channels, height, width], groups that divide the channels, and a weight and a bias of "
         "each",
         to_string(x.shape()), groups, weight.size(), bias.size());
  }
  if (x.empty()) return;
  const int64_t plane = x.size(2) * x.size(3), each = channels / groups, count = each * plane;
  float* values = x.mutable_values<float>().data();
  parallel_rows(x.size(0) * groups, count, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      float* first = values + group * count;
      const auto size = static_cast<double>(count);
      const double mean = lane_sum(first, count, [](float v) { return double{v}; }) / size;
      const double variance =
          lane_sum(first, count,
                   [mean](float v) { return (double{v} - mean) * (double{v} - mean); }) /
          size;
      const double inverse = 1 / std::sqrt(variance + double{epsilon});
      for (int64_t c = 0; c < each; ++c) {
        const auto channel = static_cast<size_t>(group % groups * each + c);
        const auto factor = static_cast<float>(inverse * double{weight[channel]});
        const auto shift =
            static_cast<float>(double{bias[channel]} - mean * inverse * double{weight[channel]});
        const std::span<float> out(first + c * plane, static_cast<size_t>(plane));
        for (float& value : out) value = value * factor + shift;
        apply_activation(activation, out, out);
      }
    }
  });
}

}  // namespace fovea
