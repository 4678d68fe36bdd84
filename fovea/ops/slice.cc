#include "fovea/ops/slice.h"

#include <cstring>
#include <utility>

#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

// A tensor around one axis: `outer` blocks of size(axis) * `inner` elements.
struct AxisView {
  AxisView(const Shape& shape, int axis) : length(shape[axis]) {
    for (int a = 0; a < axis; ++a) outer *= shape[a];
    for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  }
  int64_t outer = 1;
  int64_t length;
  int64_t inner = 1;
};

Shape with_length(const Shape& shape, int axis, int64_t length) {
  std::vector<int64_t> sizes = shape.sizes();
  sizes[static_cast<size_t>(axis)] = length;
  return Shape(std::move(sizes));
}

void copy_floats(float* to, const float* from, int64_t count) {
  if (count > 0) std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

Tensor take(const Tensor& x, int axis, int64_t begin, int64_t end) {
  Tensor part = Tensor::uninitialized(with_length(x.shape(), axis, end - begin));
  const AxisView view(x.shape(), axis);
  const int64_t count = (end - begin) * view.inner;
  const float* from = x.values<float>().data() + begin * view.inner;
  float* to = part.mutable_values<float>().data();
  for (int64_t o = 0; o < view.outer; ++o) {
    copy_floats(to + o * count, from + o * view.length * view.inner, count);
  }
  return part;
}

void put(const Tensor& part, int axis, int64_t begin, Tensor& whole) {
  const AxisView view(whole.shape(), axis);
  const int64_t count = part.size(axis) * view.inner;
  const float* from = part.values<float>().data();
  float* to = whole.mutable_values<float>().data() + begin * view.inner;
  for (int64_t o = 0; o < view.outer; ++o) {
    copy_floats(to + o * view.length * view.inner, from + o * count, count);
  }
}

void check_parts(std::span<const Value> parts, int axis) {
  for (const Value& part : parts) {
    require_f32("concat", part);
    const bool same_rank = part.shape().rank() == parts[0].shape().rank();
    if (!same_rank ||
        !(with_length(part.shape(), axis, 0) == with_length(parts[0].shape(), axis, 0))) {
      fail(ErrorKind::kInvalidArgument,
           "concat: shapes {} and {} differ in more than axis {}, along which they are joined",
           to_string(parts[0].shape()), to_string(part.shape()), axis);
    }
  }
}

}  // namespace

Value slice(const Value& x, int axis, int64_t begin, int64_t end) {
  require_f32("slice", x);
  const int place = checked_axis("slice", x, axis);
  if (begin < 0 || end < begin || end > x.shape()[place]) {
    fail(ErrorKind::kInvalidArgument, "slice: entries {} to {} of axis {} of shape {}", begin, end,
         axis, to_string(x.shape()));
  }
  Tensor out = take(x.tensor, place, begin, end);
  if (!x.watched()) return out;
  return x.tape->record(
      std::move(out), {x.node},
      [shape = x.shape(), place, begin](const Tensor& gradient, InputGradients& inputs) {
        Tensor whole(shape);
        put(gradient, place, begin, whole);
        inputs.add(0, std::move(whole));
      });
}

Value concat(std::span<const Value> parts, int axis) {
  if (parts.empty()) fail(ErrorKind::kInvalidArgument, "concat: there is nothing to join");
  const int place = checked_axis("concat", parts[0], axis);
  check_parts(parts, place);
  int64_t length = 0;
  for (const Value& part : parts) length += part.shape()[place];
  Tensor out = Tensor::uninitialized(with_length(parts[0].shape(), place, length));
  int64_t begin = 0;
  for (const Value& part : parts) {
    put(part.tensor, place, begin, out);
    begin += part.shape()[place];
  }
  Tape* tape = common_tape(parts);
  if (tape == nullptr) return out;
  std::vector<int> nodes;
  std::vector<int64_t> lengths;
  for (const Value& part : parts) {
    nodes.push_back(part.node);
    lengths.push_back(part.shape()[place]);
  }
  return tape->record(
      std::move(out), std::move(nodes),
      [lengths = std::move(lengths), place](const Tensor& gradient, InputGradients& inputs) {
        int64_t first = 0;
        for (size_t i = 0; i < lengths.size(); ++i) {
          const int64_t last = first + lengths[i];
          if (inputs.wanted(i)) inputs.add(i, take(gradient, place, first, last));
          first = last;
        }
      });
}

}  // namespace fovea::ops
