#include "fovea/kernels/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fovea/kernels/parallel_rows.h"

namespace fovea {
namespace {

// The part of one output cell's window that lies inside the image.
struct Window {
  int64_t top, bottom, left, right;  // half-open
};

// One channel of one image, seen from the outside in.
struct Plane {
  Plane(const Shape& input, const Shape& output, const PoolGeometry& pool)
      : height(input[2]), width(input[3]), rows(output[2]), cols(output[3]), geometry(pool) {}

  Window window(int64_t row, int64_t col) const {
    const int64_t top = row * geometry.stride[0] - geometry.padding[0];
    const int64_t left = col * geometry.stride[1] - geometry.padding[1];
    return {std::max<int64_t>(top, 0), std::min(top + geometry.kernel[0], height),
            std::max<int64_t>(left, 0), std::min(left + geometry.kernel[1], width)};
  }
  float kernel_cells() const { return static_cast<float>(geometry.kernel[0] * geometry.kernel[1]); }
  // Calls visit(output index, window) for every output cell.
  template <typename Visit>
  void for_each_window(const Visit& visit) const {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t col = 0; col < cols; ++col) visit(row * cols + col, window(row, col));
    }
  }

  int64_t height, width, rows, cols;
  PoolGeometry geometry;
};

void check_f32(const Tensor& tensor) {
  if (tensor.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument, "a tensor of {} cannot be pooled; it must be F32",
         dtype_name(tensor.dtype()));
  }
}

void check_pool_gradient(const Tensor& gradient, const Shape& output) {
  check_f32(gradient);
  if (!(gradient.shape() == output)) {
    fail(ErrorKind::kInvalidArgument, "a gradient of shape {} was given for an output of shape {}",
         to_string(gradient.shape()), to_string(output));
  }
}

// body(plane, offset of the plane in the input, offset in the output), for all planes.
template <typename Body>
void for_each_plane(const Shape& input, const Shape& output, const PoolGeometry& geometry,
                    const Body& body) {
  const Plane plane(input, output, geometry);
  const int64_t in_size = plane.height * plane.width, out_size = plane.rows * plane.cols;
  const int64_t work = out_size * geometry.kernel[0] * geometry.kernel[1];
  parallel_rows(input[0] * input[1], work, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) body(plane, p * in_size, p * out_size);
  });
}

// Index of the first largest element, or of the first NaN.
int64_t largest_in(const float* image, int64_t width, const Window& window) {
  int64_t best = window.top * width + window.left;
  for (int64_t y = window.top; y < window.bottom; ++y) {
    for (int64_t at = y * width + window.left; at < y * width + window.right; ++at) {
      if (std::isnan(image[best])) return best;
      if (image[at] > image[best] || std::isnan(image[at])) best = at;
    }
  }
  return best;
}

// The largest element of a row's windows, for all columns at once.
void max_pool_row(const Plane& plane, const float* image, int64_t row, float* to) {
  std::fill(to, to + plane.cols, -std::numeric_limits<float>::infinity());
  const int64_t stride = plane.geometry.stride[1];
  const Window rows = plane.window(row, 0);
  for (int64_t y = rows.top; y < rows.bottom; ++y) {
    for (int64_t k = 0; k < plane.geometry.kernel[1]; ++k) {
      // Columns whose k-th element lies inside: 0 <= col * stride + shift < width.
      const int64_t shift = k - plane.geometry.padding[1];
      const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
      const int64_t last =
          shift >= plane.width ? 0 : std::min(plane.cols, (plane.width - 1 - shift) / stride + 1);
      const float* from = image + y * plane.width + shift;
      for (int64_t col = first; col < last; ++col) {
        const float value = from[col * stride];
        // "not at most" instead of "larger" lets NaN in, and once in it stays.
        to[col] = !(value <= to[col]) && !std::isnan(to[col]) ? value : to[col];
      }
    }
  }
}

}  // namespace

Shape pool_output_shape(const Shape& input, const PoolGeometry& geometry) {
  if (input.rank() != 4) {
    fail(ErrorKind::kInvalidArgument,
         "a tensor of shape {} cannot be pooled; it must be [batch, channels, height, width]",
         to_string(input));
  }
  std::vector<int64_t> sizes{input[0], input[1]};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t kernel = geometry.kernel[axis], stride = geometry.stride[axis];
    const int64_t padding = geometry.padding[axis], length = input[static_cast<int>(axis) + 2];
    constexpr int64_t kMost = int64_t{1} << 30;  // far from overflow below
    if (kernel < 1 || kernel > kMost || stride < 1 || padding < 0 || padding > kernel / 2 ||
        length > kMost || length + 2 * padding < kernel) {
      fail(ErrorKind::kInvalidArgument,
           "pooling {} elements with kernel {}, stride {} and padding {}: the kernel must fit and "
           "the padding be at most half of it",
           length, kernel, stride, padding);
    }
    sizes.push_back((length + 2 * padding - kernel) / stride + 1);
  }
  return Shape(std::move(sizes));
}

Tensor max_pool(const Tensor& input, const PoolGeometry& geometry) {
  const Shape output = pool_output_shape(input.shape(), geometry);
  check_f32(input);
  Tensor result = Tensor::uninitialized(output);
  const float* from = input.values<float>().data();
  float* to = result.mutable_values<float>().data();
  for_each_plane(input.shape(), output, geometry,
                 [&](const Plane& plane, int64_t in_at, int64_t out_at) {
                   for (int64_t row = 0; row < plane.rows; ++row) {
                     max_pool_row(plane, from + in_at, row, to + out_at + row * plane.cols);
                   }
                 });
  return result;
}

Tensor max_pool_gradient(const Tensor& input, const PoolGeometry& geometry,
                         const Tensor& gradient) {
  const Shape output = pool_output_shape(input.shape(), geometry);
  check_f32(input);
  check_pool_gradient(gradient, output);
  Tensor result(input.shape());
  const float* from = input.values<float>().data();
  const float* seed = gradient.values<float>().data();
  float* to = result.mutable_values<float>().data();
  for_each_plane(input.shape(), output, geometry,
                 [&](const Plane& plane, int64_t in_at, int64_t out_at) {
                   plane.for_each_window([&](int64_t cell, const Window& window) {
                     const int64_t best = largest_in(from + in_at, plane.width, window);
                     to[in_at + best] += seed[out_at + cell];
                   });
                 });
  return result;
}

Tensor average_pool(const Tensor& input, const PoolGeometry& geometry) {
  const Shape output = pool_output_shape(input.shape(), geometry);
  check_f32(input);
  Tensor result = Tensor::uninitialized(output);
  const float* from = input.values<float>().data();
  float* to = result.mutable_values<float>().data();
  for_each_plane(input.shape(), output, geometry,
                 [&](const Plane& plane, int64_t in_at, int64_t out_at) {
                   plane.for_each_window([&](int64_t cell, const Window& window) {
                     double sum = 0;
                     for (int64_t y = window.top; y < window.bottom; ++y) {
                       const float* row = from + in_at + y * plane.width;
                       for (int64_t x = window.left; x < window.right; ++x) sum += double{row[x]};
                     }
                     to[out_at + cell] = static_cast<float>(sum / double{plane.kernel_cells()});
                   });
                 });
  return result;
}

Tensor average_pool_gradient(const Shape& input, const PoolGeometry& geometry,
                             const Tensor& gradient) {
  const Shape output = pool_output_shape(input, geometry);
  check_pool_gradient(gradient, output);
  Tensor result(input);
  const float* seed = gradient.values<float>().data();
  float* to = result.mutable_values<float>().data();
  for_each_plane(input, output, geometry, [&](const Plane& plane, int64_t in_at, int64_t out_at) {
    plane.for_each_window([&](int64_t cell, const Window& window) {
      const float share = seed[out_at + cell] / plane.kernel_cells();
      for (int64_t y = window.top; y < window.bottom; ++y) {
        float* row = to + in_at + y * plane.width;
        for (int64_t x = window.left; x < window.right; ++x) row[x] += share;
      }
    });
  });
  return result;
}

}  // namespace fovea
