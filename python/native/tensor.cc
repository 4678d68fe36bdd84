#include "python/native/tensor.h"

#include <nanobind/stl/string.h>

#include <cstring>

#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea::python {
namespace {

using Code = nb::dlpack::dtype_code;

nb::dlpack::dtype dlpack_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * dtype_bytes(dtype));
  const auto of = [&](Code code) { return nb::dlpack::dtype{static_cast<uint8_t>(code), bits, 1}; };
  switch (dtype) {
    case DType::kBool:
      return of(Code::Bool);
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return of(Code::UInt);
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
    case DType::kI64:
      return of(Code::Int);
    default:
      return of(Code::Float);
  }
}

DType dtype_of(nb::dlpack::dtype type, const std::string& name) {
  for (const DType dtype :
       {DType::kBool, DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kF16, DType::kU32,
        DType::kI32, DType::kF32, DType::kU64, DType::kI64, DType::kF64}) {
    if (dlpack_type(dtype) == type) return dtype;
  }
  fail(ErrorKind::kInvalidArgument, Field{name},
       "its elements are of a type that fovea does not take; give whole numbers or floats");
}

template <typename... Options>
nb::any as_array(Tensor tensor) {
  auto* owner = new Tensor(std::move(tensor));
  const nb::capsule keeps(owner, [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  std::vector<size_t> shape;
  for (int axis = 0; axis < owner->rank(); ++axis) {
    shape.push_back(static_cast<size_t>(owner->size(axis)));
  }
  // nanobind takes a pointer that may be written to; numpy is told whether it may.
  auto* data = const_cast<std::byte*>(owner->raw());
  const nb::ndarray<nb::numpy, Options...> array(data, shape.size(), shape.data(), keeps, nullptr,
                                                 dlpack_type(owner->dtype()));
  return untyped(nb::cast(array, nb::rv_policy::reference));
}

}  // namespace

nb::any view_of(const Tensor& tensor) {
  return as_array<nb::ro>(tensor.dtype() == DType::kBF16 ? convert(tensor, DType::kF32) : tensor);
}

nb::any any_array_of(Tensor tensor) {
  return as_array<>(std::move(tensor));
}

std::vector<NamedTensor> tensors_of(const ArraysByName& arrays) {
  std::vector<NamedTensor> tensors;
  for (const auto& [key, value] : arrays) {
    const auto name = nb::cast<std::string>(key);
    const auto array = nb::cast<nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>>(value);
    std::vector<int64_t> sizes;
    for (size_t axis = 0; axis < array.ndim(); ++axis) {
      sizes.push_back(static_cast<int64_t>(array.shape(axis)));
    }
    Tensor tensor = Tensor::uninitialized(Shape(sizes), dtype_of(array.dtype(), name));
    if (!tensor.empty()) std::memcpy(tensor.mutable_raw(), array.data(), tensor.bytes());
    tensors.push_back({name, std::move(tensor)});
  }
  return tensors;
}

}  // namespace fovea::python
