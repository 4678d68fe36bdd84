#include "fovea/kernels/elementwise.h"

#include <algorithm>
#include <array>

#include "fovea/kernels/parallel_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/elementwise.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                            // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

void add_range(const float* a, const float* b, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector x, FloatVector y) HWY_ATTR { return hn::Add(x, y); }, a, b);
}

void multiply_range(const float* a, const float* b, float* out, int64_t count) {
  map_floats(
      out, count, [](FloatVector x, FloatVector y) HWY_ATTR { return hn::Mul(x, y); }, a, b);
}

void scale_range(const float* a, float factor, float* out, int64_t count) {
  const FloatVector f = hn::Set(FloatTag(), factor);
  map_floats(
      out, count, [f](FloatVector x) HWY_ATTR { return hn::Mul(x, f); }, a);
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {
HWY_EXPORT(add_range);
HWY_EXPORT(multiply_range);
HWY_EXPORT(scale_range);

using BinaryRange = void (*)(const float*, const float*, float*, int64_t);

void run_binary(BinaryRange kernel, std::span<const float> a, std::span<const float> b,
                std::span<float> out) {
  FOVEA_ASSERT(a.size() == b.size() && a.size() == out.size());
  parallel_rows(static_cast<int64_t>(a.size()), 1, [&](int64_t begin, int64_t end) {
    kernel(a.data() + begin, b.data() + begin, out.data() + begin, end - begin);
  });
}

void run_rows(BinaryRange kernel, MatrixView<const float> a, std::span<const float> row,
              MatrixView<float> out) {
  FOVEA_ASSERT(static_cast<int64_t>(row.size()) == a.cols);
  FOVEA_ASSERT(a.rows == out.rows && a.cols == out.cols);
  parallel_rows(a.rows, a.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) kernel(a.row(r), row.data(), out.row(r), a.cols);
  });
}

// Columns are dealt out in strips, each strip is read row by row.
template <typename AddRow>
void sum_strips(int64_t rows, int64_t cols, std::span<float> out, const AddRow& add_row) {
  constexpr int64_t kStrip = 128;
  FOVEA_ASSERT(static_cast<int64_t>(out.size()) == cols);
  parallel_rows((cols + kStrip - 1) / kStrip, rows * kStrip, [&](int64_t begin, int64_t end) {
    for (int64_t strip = begin; strip < end; ++strip) {
      const int64_t first = strip * kStrip;
      const int64_t width = std::min(kStrip, cols - first);
      std::array<double, kStrip> sums{};
      for (int64_t r = 0; r < rows; ++r) add_row(r, first, width, sums.data());
      std::transform(sums.begin(), sums.begin() + width, out.begin() + first,
                     [](double sum) { return static_cast<float>(sum); });
    }
  });
}
}  // namespace

void add_arrays(std::span<const float> a, std::span<const float> b, std::span<float> out) {
  run_binary(HWY_DYNAMIC_DISPATCH(add_range), a, b, out);
}

void multiply_arrays(std::span<const float> a, std::span<const float> b, std::span<float> out) {
  run_binary(HWY_DYNAMIC_DISPATCH(multiply_range), a, b, out);
}

void scale_array(std::span<const float> a, float factor, std::span<float> out) {
  FOVEA_ASSERT(a.size() == out.size());
  const auto kernel = HWY_DYNAMIC_DISPATCH(scale_range);
  parallel_rows(static_cast<int64_t>(a.size()), 1, [&](int64_t begin, int64_t end) {
    kernel(a.data() + begin, factor, out.data() + begin, end - begin);
  });
}

void add_to_rows(MatrixView<const float> a, std::span<const float> row, MatrixView<float> out) {
  run_rows(HWY_DYNAMIC_DISPATCH(add_range), a, row, out);
}

void multiply_rows(MatrixView<const float> a, std::span<const float> row, MatrixView<float> out) {
  run_rows(HWY_DYNAMIC_DISPATCH(multiply_range), a, row, out);
}

void sum_of_rows(MatrixView<const float> a, std::span<float> out) {
  sum_strips(a.rows, a.cols, out, [&](int64_t r, int64_t first, int64_t width, double* sums) {
    const float* row = a.row(r) + first;
    for (int64_t j = 0; j < width; ++j) sums[j] += double{row[j]};
  });
}

void sum_of_row_products(MatrixView<const float> a, MatrixView<const float> b,
                         std::span<float> out) {
  FOVEA_ASSERT(a.rows == b.rows && a.cols == b.cols);
  sum_strips(a.rows, a.cols, out, [&](int64_t r, int64_t first, int64_t width, double* sums) {
    const float* left = a.row(r) + first;
    const float* right = b.row(r) + first;
    for (int64_t j = 0; j < width; ++j) sums[j] += double{left[j]} * double{right[j]};
  });
}

}  // namespace fovea
#endif  // HWY_ONCE
