#include "fovea/ops/elementwise.h"

#include <algorithm>
#include <utility>

#include "fovea/kernels/elementwise.h"
#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

bool is_tail_of(const Shape& tail, const Shape& shape) {
  const auto& a = shape.sizes();
  const auto& b = tail.sizes();
  return b.size() <= a.size() && std::equal(b.rbegin(), b.rend(), a.rbegin());
}

void check_operands(const char* op, const Value& a, const Value& b) {
  require_f32(op, a);
  require_f32(op, b);
  if (!is_tail_of(b.shape(), a.shape())) {
    fail(ErrorKind::kInvalidArgument,
         "{}: shapes {} and {}; the second must be the first one or its last axes", op,
         to_string(a.shape()), to_string(b.shape()));
  }
}

// `tensor` as rows as long as `tail` has elements.
MatrixView<const float> rows_over(const Tensor& tensor, const Shape& tail) {
  const int64_t cols = tail.elements();
  return {tensor.values<float>().data(), cols == 0 ? 0 : tensor.elements() / cols, cols};
}

template <typename WholeKernel, typename RowKernel>
Tensor combine(const Tensor& a, const Tensor& b, WholeKernel whole, RowKernel by_row) {
  Tensor out = Tensor::uninitialized(a.shape());
  const std::span<float> values = out.mutable_values<float>();
  if (a.elements() == b.elements()) {
    whole(a.values<float>(), b.values<float>(), values);
  } else {
    const MatrixView<const float> rows = rows_over(a, b.shape());
    by_row(rows, b.values<float>(), MatrixView<float>(values.data(), rows.rows, rows.cols));
  }
  return out;
}

Tensor product(const Tensor& a, const Tensor& b) {
  return combine(a, b, multiply_arrays, multiply_rows);
}

}  // namespace

Value add(const Value& a, const Value& b) {
  check_operands("add", a, b);
  Tensor out = combine(a.tensor, b.tensor, add_arrays, add_to_rows);
  Tape* tape = common_tape({&a, &b});
  if (tape == nullptr) return out;
  return tape->record(std::move(out), {a.node, b.node},
                      [tail = b.shape()](const Tensor& gradient, InputGradients& inputs) {
                        inputs.add(0, gradient);
                        if (!inputs.wanted(1)) return;
                        if (tail == gradient.shape()) return inputs.add(1, gradient);
                        Tensor sum(tail);
                        sum_of_rows(rows_over(gradient, tail), sum.mutable_values<float>());
                        inputs.add(1, std::move(sum));
                      });
}

Value multiply(const Value& a, const Value& b) {
  check_operands("multiply", a, b);
  Tensor out = product(a.tensor, b.tensor);
  Tape* tape = common_tape({&a, &b});
  if (tape == nullptr) return out;
  // Each factor is kept only for the gradient of the other.
  return tape->record(
      std::move(out), {a.node, b.node},
      [kept_a = b.watched() ? a.tensor : Tensor(), kept_b = a.watched() ? b.tensor : Tensor(),
       tail = b.shape()](const Tensor& gradient, InputGradients& inputs) {
        if (inputs.wanted(0)) inputs.add(0, product(gradient, kept_b));
        if (!inputs.wanted(1)) return;
        if (tail == gradient.shape()) return inputs.add(1, product(gradient, kept_a));
        Tensor sum(tail);
        sum_of_row_products(rows_over(gradient, tail), rows_over(kept_a, tail),
                            sum.mutable_values<float>());
        inputs.add(1, std::move(sum));
      });
}

Value scale(const Value& a, float factor) {
  require_f32("scale", a);
  const auto scaled = [factor](const Tensor& tensor) {
    Tensor out = Tensor::uninitialized(tensor.shape());
    scale_array(tensor.values<float>(), factor, out.mutable_values<float>());
    return out;
  };
  Tensor out = scaled(a.tensor);
  if (!a.watched()) return out;
  return a.tape->record(std::move(out), {a.node},
                        [scaled](const Tensor& gradient, InputGradients& inputs) {
                          inputs.add(0, scaled(gradient));
                        });
}

Value clamp(const Value& a, float low, float high) {
  require_f32("clamp", a);
  Tensor out = Tensor::uninitialized(a.shape());
  std::ranges::transform(a.tensor.values<float>(), out.mutable_values<float>().begin(),
                         [low, high](float value) { return std::clamp(value, low, high); });
  if (!a.watched()) return out;
  return a.tape->record(
      std::move(out), {a.node},
      [kept = a.tensor, low, high](const Tensor& gradient, InputGradients& inputs) {
        Tensor passed = gradient.clone();
        const auto values = kept.values<float>();
        const auto to = passed.mutable_values<float>();
        for (size_t i = 0; i < to.size(); ++i) {
          if (values[i] < low || values[i] > high) to[i] = 0;
        }
        inputs.add(0, std::move(passed));
      });
}

}  // namespace fovea::ops
