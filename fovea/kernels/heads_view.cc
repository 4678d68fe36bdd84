#include "fovea/kernels/heads_view.h"

#include "fovea/base/error.h"

namespace fovea {

HeadsView HeadsView::of(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (tensor.rank() != 3 ||
      (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16)) {
    fail(ErrorKind::kInvalidArgument,
         "attention needs F32, F16 or BF16 of shape [heads, rows, size] but was given {} {}",
         dtype_name(dtype), to_string(tensor.shape()));
  }
  return {tensor.raw(),   dtype,          tensor.size(0),
          tensor.size(1), tensor.size(2), tensor.size(1) * tensor.size(2),
          tensor.size(2)};
}

void HeadsView::read_rows(int64_t head, int64_t row, int64_t count, float factor,
                          float* out) const {
  const auto copy = [&](const auto* values) {
    values += head * head_stride + row * row_stride;
    for (int64_t r = 0; r < count; ++r, values += row_stride, out += dim) {
      for (int64_t c = 0; c < dim; ++c) {
        if constexpr (std::is_same_v<decltype(values), const float*>) {
          out[c] = values[c] * factor;
        } else if constexpr (std::is_same_v<decltype(values), const double*>) {
          out[c] = static_cast<float>(values[c]) * factor;
        } else {
          out[c] = to_float(values[c]) * factor;
        }
      }
    }
  };
  if (dtype == DType::kF32) {
    copy(reinterpret_cast<const float*>(data));
  } else if (dtype == DType::kBF16) {
    copy(reinterpret_cast<const BF16*>(data));
  } else if (dtype == DType::kF64) {
    copy(reinterpret_cast<const double*>(data));
  } else {
    copy(reinterpret_cast<const F16*>(data));
  }
}

MutableHeadsView MutableHeadsView::of(Tensor& tensor) {
  FOVEA_ASSERT(tensor.rank() == 3);
  return {tensor.mutable_values<float>().data(), tensor.size(1) * tensor.size(2), tensor.size(2)};
}

}  // namespace fovea
