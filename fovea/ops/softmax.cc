#include "fovea/ops/softmax.h"

#include <utility>

#include "fovea/kernels/softmax.h"
#include "fovea/ops/check.h"

namespace fovea::ops {

Value softmax(const Value& x) {
  require_f32("softmax", x);
  Tensor out = Tensor::uninitialized(x.shape());
  softmax_rows(x.tensor.matrix<float>(), out.mutable_matrix<float>());
  if (!x.watched()) return out;
  return x.tape->record(out, {x.node},
                        [weights = out](const Tensor& gradient, InputGradients& inputs) {
                          Tensor result = Tensor::uninitialized(gradient.shape());
                          softmax_rows_gradient(weights.matrix<float>(), gradient.matrix<float>(),
                                                result.mutable_matrix<float>());
                          inputs.add(0, std::move(result));
                        });
}

}  // namespace fovea::ops
