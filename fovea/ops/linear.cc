#include "fovea/ops/linear.h"

#include <algorithm>
#include <utility>

#include "fovea/kernels/elementwise.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/check.h"
#include "fovea/ops/elementwise.h"
#include "fovea/tensor/convert.h"

namespace fovea::ops {
namespace {

// The shape of x with its last axis `in` replaced by `out`.
Shape output_shape(const Value& x, int64_t in, int64_t out) {
  require_f32("linear", x);
  if (x.shape().rank() == 0 || x.shape().back() != in) {
    fail(ErrorKind::kInvalidArgument,
         "linear: an input of shape {} with weights [{}, {}]; its last axis must be {}",
         to_string(x.shape()), out, in, in);
  }
  std::vector<int64_t> sizes = x.shape().sizes();
  sizes.back() = out;
  return Shape(std::move(sizes));
}

bool is_zero(MatrixView<const float> matrix, int64_t row) {
  return std::all_of(matrix.row(row), matrix.row(row) + matrix.cols,
                     [](float value) { return value == 0; });
}

// gradient [.., out] times weight [out, in], in the shape of x. Rows of 0 at both ends are left
// out: a target mostly has a part in few rows of the last layer, and in none after its own of a
// causal model.
Tensor input_gradient(const Tensor& gradient, const Tensor& weight, const Shape& x) {
  const MatrixView<const float> from = gradient.matrix<float>();
  int64_t begin = 0, end = from.rows;
  while (begin < end && is_zero(from, begin)) ++begin;
  while (begin < end && is_zero(from, end - 1)) --end;
  const bool all = end - begin == from.rows;
  Tensor result = all ? Tensor::uninitialized(x) : Tensor(x);
  const MatrixView<float> to = result.mutable_matrix<float>();
  matmul(from.block(begin, 0, end - begin, from.cols), weight.matrix<float>(),
         to.block(begin, 0, end - begin, to.cols));
  return result;
}

}  // namespace

Value linear(const Value& x, const Value& weight, const Value& bias) {
  require_rank("linear", weight, 2);
  const int64_t out_size = weight.shape()[0];
  require_vector("linear", bias, out_size);
  Tensor out = Tensor::uninitialized(output_shape(x, weight.shape()[1], out_size));
  matmul(x.tensor.matrix<float>(), weight.tensor.matrix<float>(), out.mutable_matrix<float>(),
         {.transpose_b = true});
  if (!bias.tensor.empty()) {
    const MatrixView<float> rows = out.mutable_matrix<float>();
    add_to_rows(rows, bias.tensor.values<float>(), rows);
  }
  Tape* tape = common_tape({&x, &weight, &bias});
  if (tape == nullptr) return out;
  return tape->record(
      std::move(out), {x.node, weight.node, bias.node},
      [kept_x = weight.watched() ? x.tensor : Tensor(),
       kept_weight = x.watched() ? weight.tensor : Tensor(), x_shape = x.shape(),
       weight_shape = weight.shape()](const Tensor& gradient, InputGradients& inputs) {
        if (inputs.wanted(0)) inputs.add(0, input_gradient(gradient, kept_weight, x_shape));
        if (inputs.wanted(1)) {
          Tensor result = Tensor::uninitialized(weight_shape);
          matmul(gradient.matrix<float>(), kept_x.matrix<float>(), result.mutable_matrix<float>(),
                 {.transpose_a = true});
          inputs.add(1, std::move(result));
        }
        if (inputs.wanted(2)) {
          Tensor result = Tensor::uninitialized({weight_shape[0]});
          sum_of_rows(gradient.matrix<float>(), result.mutable_values<float>());
          inputs.add(2, std::move(result));
        }
      });
}

Linear::Linear(const StoredMatrix& weight, const Tensor& bias, DType compute, WeightLayout layout)
    : Linear(PackedMatrix(weight, compute, layout), bias) {}

Linear::Linear(PackedMatrix weight, const Tensor& bias)
    : weight_(std::move(weight)), bias_(convert(bias, DType::kF32)) {
  require_vector("linear", bias_, out());
}

Tensor Linear::run(const Value& x, Activation function, const Value& residual) const {
  Tensor out = Tensor::uninitialized(output_shape(x, in(), this->out()));
  Epilogue epilogue{.bias = bias_.values<float>(), .activation = function};
  if (!residual.tensor.empty()) {
    require_f32("linear", residual);
    if (!(residual.shape() == out.shape())) {
      fail(ErrorKind::kInvalidArgument, "linear: a residual of shape {} for a result of shape {}",
           to_string(residual.shape()), to_string(out.shape()));
    }
    epilogue.residual = residual.tensor.matrix<float>();
  }
  weight_.apply(x.tensor.matrix<float>(), epilogue, out.mutable_matrix<float>());
  return out;
}

Value Linear::operator()(const Value& x, Activation function, const Value& residual) const {
  if (common_tape({&x, &residual}) == nullptr) return run(x, function, residual);
  if (function == Activation::kNone) return known(x, residual, run(x, function, residual));
  // The activation's gradient needs its input, so on a tape it is an op of its own.
  const Value out = activation(known(x, {}, run(x, Activation::kNone, {})), function);
  return residual.tensor.empty() ? out : add(out, residual);
}

Value Linear::known(const Value& x, const Value& residual, const Tensor& result) const {
  Tape* tape = common_tape({&x, &residual});
  if (tape == nullptr) return result;
  return tape->record(
      result, {x.node, residual.node},
      [weight = weight_, shape = x.shape()](const Tensor& gradient, InputGradients& inputs) {
        if (inputs.wanted(0)) inputs.add(0, input_gradient(gradient, weight.unpack(), shape));
        if (inputs.wanted(1)) inputs.add(1, gradient);
      });
}

}  // namespace fovea::ops
