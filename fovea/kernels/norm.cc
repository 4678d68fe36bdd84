#include "fovea/kernels/norm.h"

#include <cmath>
#include <vector>

#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/parallel_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/norm.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                     // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// to <- (row - mean) * factor, both of layer norm (`centred`) or of RMS norm (mean 0).
void normalize(const float* row, int64_t count, bool centred, float epsilon, float* to) {
  const FloatTag d;
  const auto same = [](FloatVector x) HWY_ATTR { return x; };
  const double inverse_count = 1.0 / static_cast<double>(count);
  float mean = 0;
  if (centred) mean = static_cast<float>(sum_floats(count, same, row) * inverse_count);
  const FloatVector shift = hn::Set(d, mean);
  map_floats(
      to, count, [shift](FloatVector x) HWY_ATTR { return hn::Sub(x, shift); }, row);
  double variance =
      inverse_count * sum_floats(
                          count, [](FloatVector x) HWY_ATTR { return hn::Mul(x, x); }, to);
  float rest = 0;
  if (centred) {  // what rounding the mean to float has left over
    rest = static_cast<float>(sum_floats(count, same, to) * inverse_count);
    variance = HWY_MAX(0.0, variance - double{rest} * double{rest});
  }
  const FloatVector remaining = hn::Set(d, rest);
  const FloatVector factor =
      hn::Set(d, static_cast<float>(1.0 / std::sqrt(variance + double{epsilon})));
  map_floats(
      to, count, [=](FloatVector x) HWY_ATTR { return hn::Mul(hn::Sub(x, remaining), factor); },
      to);
}

void norm_block(MatrixView<const float> x, const float* weight, const float* bias, bool centred,
                float epsilon, MatrixView<float> out) {
  for (int64_t r = 0; r < x.rows; ++r) {
    float* to = out.row(r);
    normalize(x.row(r), x.cols, centred, epsilon, to);
    if (weight != nullptr && bias != nullptr) {
      map_floats(
          to, x.cols,
          [](FloatVector v, FloatVector w, FloatVector b) HWY_ATTR { return hn::MulAdd(v, w, b); },
          to, weight, bias);
    } else if (weight != nullptr) {
      map_floats(
          to, x.cols, [](FloatVector v, FloatVector w) HWY_ATTR { return hn::Mul(v, w); }, to,
          weight);
    } else if (bias != nullptr) {
      map_floats(
          to, x.cols, [](FloatVector v, FloatVector b) HWY_ATTR { return hn::Add(v, b); }, to,
          bias);
    }
  }
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(norm_block);

const float* data_or_null(std::span<const float> values) {
  return values.empty() ? nullptr : values.data();
}

void run_norm(MatrixView<const float> x, std::span<const float> weight, std::span<const float> bias,
              bool centred, float epsilon, MatrixView<float> out) {
  FOVEA_ASSERT(out.rows == x.rows && out.cols == x.cols);
  FOVEA_ASSERT(weight.empty() || static_cast<int64_t>(weight.size()) == x.cols);
  FOVEA_ASSERT(bias.empty() || static_cast<int64_t>(bias.size()) == x.cols);
  const auto kernel = HWY_DYNAMIC_DISPATCH(norm_block);
  parallel_rows(x.rows, x.cols, [&](int64_t begin, int64_t end) {
    kernel(x.block(begin, 0, end - begin, x.cols), data_or_null(weight), data_or_null(bias),
           centred, epsilon, out.block(begin, 0, end - begin, x.cols));
  });
}

struct RowScale {
  double mean = 0;
  double factor = 0;  // 1 / sqrt(variance + epsilon)
};

RowScale row_scale(const float* row, int64_t count, bool centred, float epsilon) {
  RowScale scale;
  if (centred) {
    for (int64_t j = 0; j < count; ++j) scale.mean += double{row[j]};
    scale.mean /= static_cast<double>(count);
  }
  double squares = 0;
  for (int64_t j = 0; j < count; ++j) {
    const double deviation = double{row[j]} - scale.mean;
    squares += deviation * deviation;
  }
  scale.factor = 1 / std::sqrt(squares / static_cast<double>(count) + double{epsilon});
  return scale;
}

// With n = (x - mean) * factor and h = gradient * weight:
//   dx = factor * (h - n * mean(h n) - mean(h)), the last term only where the mean was taken off.
void input_gradient(MatrixView<const float> x, std::span<const float> weight, bool centred,
                    const std::vector<RowScale>& scales, MatrixView<const float> gradient,
                    MatrixView<float> out) {
  const auto count = static_cast<double>(x.cols);
  parallel_rows(x.rows, 4 * x.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const RowScale& scale = scales[static_cast<size_t>(r)];
      const float* row = x.row(r);
      const float* g = gradient.row(r);
      const auto h = [&](int64_t j) {
        return double{g[j]} * (weight.empty() ? 1.0 : double{weight[static_cast<size_t>(j)]});
      };
      const auto n = [&](int64_t j) { return (double{row[j]} - scale.mean) * scale.factor; };
      double mean_h = 0, mean_hn = 0;
      for (int64_t j = 0; j < x.cols; ++j) {
        mean_h += h(j);
        mean_hn += h(j) * n(j);
      }
      mean_h = centred ? mean_h / count : 0;
      mean_hn /= count;
      float* to = out.row(r);
      for (int64_t j = 0; j < x.cols; ++j) {
        to[j] = static_cast<float>(scale.factor * (h(j) - n(j) * mean_hn - mean_h));
      }
    }
  });
}

void run_gradient(MatrixView<const float> x, std::span<const float> weight, bool centred,
                  float epsilon, MatrixView<const float> gradient, NormGradients out) {
  FOVEA_ASSERT(gradient.rows == x.rows && gradient.cols == x.cols);
  std::vector<RowScale> scales(static_cast<size_t>(x.rows));
  parallel_rows(x.rows, 2 * x.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      scales[static_cast<size_t>(r)] = row_scale(x.row(r), x.cols, centred, epsilon);
    }
  });
  if (out.x.data != nullptr) input_gradient(x, weight, centred, scales, gradient, out.x);
  if (!out.weight.empty()) {
    std::vector<double> sums(out.weight.size());
    for (int64_t r = 0; r < x.rows; ++r) {
      const RowScale& scale = scales[static_cast<size_t>(r)];
      for (int64_t j = 0; j < x.cols; ++j) {
        sums[static_cast<size_t>(j)] +=
            double{gradient.row(r)[j]} * (double{x.row(r)[j]} - scale.mean) * scale.factor;
      }
    }
    for (size_t j = 0; j < sums.size(); ++j) out.weight[j] = static_cast<float>(sums[j]);
  }
  if (!out.bias.empty()) sum_of_rows(gradient, out.bias);
}
}  // namespace

void layer_norm_rows(MatrixView<const float> x, std::span<const float> weight,
                     std::span<const float> bias, float epsilon, MatrixView<float> out) {
  run_norm(x, weight, bias, /*centred=*/true, epsilon, out);
}

void rms_norm_rows(MatrixView<const float> x, std::span<const float> weight, float epsilon,
                   MatrixView<float> out) {
  run_norm(x, weight, {}, /*centred=*/false, epsilon, out);
}

void layer_norm_rows_gradient(MatrixView<const float> x, std::span<const float> weight,
                              float epsilon, MatrixView<const float> gradient, NormGradients out) {
  run_gradient(x, weight, /*centred=*/true, epsilon, gradient, out);
}

void rms_norm_rows_gradient(MatrixView<const float> x, std::span<const float> weight, float epsilon,
                            MatrixView<const float> gradient, NormGradients out) {
  run_gradient(x, weight, /*centred=*/false, epsilon, gradient, out);
}

}  // namespace fovea
#endif  // HWY_ONCE
