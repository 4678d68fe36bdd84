#include "fovea/ops/layout.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fovea/kernels/parallel_rows.h"
#include "fovea/kernels/transpose.h"
#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

// [outer, a, middle, b, inner] -> [outer, b, middle, a, inner]: any swap of two axes.
struct Swap {
  int64_t outer = 1, a = 1, middle = 1, b = 1, inner = 1;
};

Swap swap_of(const Shape& shape, int first, int second) {
  Swap swap{.a = shape[first], .b = shape[second]};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis < first) swap.outer *= shape[axis];
    if (axis > first && axis < second) swap.middle *= shape[axis];
    if (axis > second) swap.inner *= shape[axis];
  }
  return swap;
}

// A call of memcpy() takes longer than copying the few dozen numbers of a head.
void copy_run(const float* from, int64_t count, float* to) {
  constexpr int64_t kChunk = 16, kLong = 256;
  if (count > kLong) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
    return;
  }
  int64_t i = 0;
  for (; i + kChunk <= count; i += kChunk) std::memcpy(to + i, from + i, kChunk * sizeof(float));
  for (; i < count; ++i) to[i] = from[i];
}

void run_swap(const Swap& swap, const float* from, float* to) {
  const int64_t block = swap.a * swap.middle * swap.b * swap.inner;
  if (swap.middle == 1 && swap.inner == 1) {
    for (int64_t o = 0; o < swap.outer; ++o) {
      transpose_matrix({from + o * block, swap.a, swap.b}, {to + o * block, swap.b, swap.a});
    }
    return;
  }
  const int64_t row = swap.middle * swap.a * swap.inner;  // one entry of b in the result
  parallel_rows(swap.outer * swap.b, row, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t o = r / swap.b, b = r % swap.b;
      float* target = to + r * row;
      for (int64_t m = 0; m < swap.middle; ++m) {
        for (int64_t a = 0; a < swap.a; ++a, target += swap.inner) {
          const float* source =
              from + o * block + ((a * swap.middle + m) * swap.b + b) * swap.inner;
          copy_run(source, swap.inner, target);
        }
      }
    }
  });
}

Tensor swapped(const Tensor& x, int first, int second) {
  if (first > second) std::swap(first, second);
  std::vector<int64_t> sizes = x.shape().sizes();
  std::swap(sizes[static_cast<size_t>(first)], sizes[static_cast<size_t>(second)]);
  Tensor out = Tensor::uninitialized(Shape(std::move(sizes)));
  if (out.empty()) return out;
  run_swap(swap_of(x.shape(), first, second), x.values<float>().data(),
           out.mutable_values<float>().data());
  return out;
}

}  // namespace

Value reshape(const Value& x, Shape shape) {
  require_f32("reshape", x);
  Tensor out = x.tensor.reshaped(std::move(shape));
  if (!x.watched()) return out;
  return x.tape->record(std::move(out), {x.node},
                        [before = x.shape()](const Tensor& gradient, InputGradients& inputs) {
                          inputs.add(0, gradient.reshaped(before));
                        });
}

Value transpose(const Value& x, int axis_a, int axis_b) {
  require_f32("transpose", x);
  const int a = checked_axis("transpose", x, axis_a);
  const int b = checked_axis("transpose", x, axis_b);
  if (a == b) return x;
  Tensor out = swapped(x.tensor, a, b);
  if (!x.watched()) return out;
  return x.tape->record(std::move(out), {x.node},
                        [a, b](const Tensor& gradient, InputGradients& inputs) {
                          inputs.add(0, swapped(gradient, a, b));
                        });
}

Value split_heads(const Value& x, int64_t heads) {
  require_rank("split_heads", x, 2);
  const int64_t rows = x.shape()[0], cols = x.shape()[1];
  if (heads < 1 || cols % heads != 0) {
    fail(ErrorKind::kInvalidArgument,
         "split_heads: {} columns into {} heads; the heads must divide the columns", cols, heads);
  }
  Tensor out = swapped(x.tensor.reshaped({rows, heads, cols / heads}), 0, 1);
  if (!x.watched()) return out;
  return x.tape->record(std::move(out), {x.node},
                        [rows, cols](const Tensor& gradient, InputGradients& inputs) {
                          inputs.add(0, swapped(gradient, 0, 1).reshaped({rows, cols}));
                        });
}

Value merge_heads(const Value& x) {
  require_rank("merge_heads", x, 3);
  const int64_t heads = x.shape()[0], rows = x.shape()[1], dim = x.shape()[2];
  Tensor out = swapped(x.tensor, 0, 1).reshaped({rows, heads * dim});
  if (!x.watched()) return out;
  return x.tape->record(std::move(out), {x.node},
                        [=](const Tensor& gradient, InputGradients& inputs) {
                          inputs.add(0, swapped(gradient.reshaped({rows, heads, dim}), 0, 1));
                        });
}

}  // namespace fovea::ops
