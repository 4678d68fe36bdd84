#include "fovea/ops/rotary.h"

#include <utility>

#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

Tensor rotated(const Tensor& x, const RotaryTable& table, RotaryPairing pairing, bool backwards) {
  Tensor out = Tensor::uninitialized(x.shape());
  const MatrixView<const float> from = x.matrix<float>();
  const MatrixView<float> to = out.mutable_matrix<float>();
  const int64_t heads = x.rank() == 3 ? x.size(0) : 1;
  const int64_t rows = x.size(x.rank() - 2);
  for (int64_t head = 0; head < heads && x.elements() > 0; ++head) {
    rotate_rows(from.block(head * rows, 0, rows, from.cols), table, pairing, backwards,
                to.block(head * rows, 0, rows, to.cols));
  }
  return out;
}

}  // namespace

Value rotary(const Value& x, const RotaryTable& table, RotaryPairing pairing) {
  require_rank("rotary", x, x.shape().rank() == 2 ? 2 : 3);
  Tensor out = rotated(x.tensor, table, pairing, /*backwards=*/false);
  if (!x.watched()) return out;
  return x.tape->record(std::move(out), {x.node},
                        [table, pairing](const Tensor& gradient, InputGradients& inputs) {
                          inputs.add(0, rotated(gradient, table, pairing, /*backwards=*/true));
                        });
}

}  // namespace fovea::ops
