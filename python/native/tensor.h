// Tensors as arrays of numpy and back.
#pragma once

#include <nanobind/ndarray.h>

#include <vector>

#include "fovea/io/named_tensor.h"
#include "fovea/tensor/tensor.h"
#include "python/native/base.h"

namespace fovea::python {

// The elements where they lie, read-only; the array keeps them alive. bfloat16, which numpy does
// not have, becomes f32.
nb::any view_of(const Tensor& tensor);
// Of a tensor that nobody else has, to be written to.
nb::any any_array_of(Tensor tensor);

// The same of elements whose type is known.
template <typename T>
nb::ndarray<nb::numpy, T> array_of(Tensor tensor) {
  auto* owner = new Tensor(std::move(tensor));
  const nb::capsule keeps(owner, [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  std::vector<size_t> shape;
  for (int axis = 0; axis < owner->rank(); ++axis) {
    shape.push_back(static_cast<size_t>(owner->size(axis)));
  }
  return nb::ndarray<nb::numpy, T>(owner->mutable_values<T>().data(), shape.size(), shape.data(),
                                   keeps);
}
template <typename T>
nb::ndarray<nb::numpy, T> array_of(const std::vector<T>& values) {
  return array_of<T>(Tensor::from<T>({static_cast<int64_t>(values.size())}, values));
}

using ArraysByName = nb::typed<nb::dict, nb::str, nb::any>;

// Copies of arrays by their names. Throws Error{kInvalidArgument} for elements that tensors do not
// have.
std::vector<NamedTensor> tensors_of(const ArraysByName& arrays);

}  // namespace fovea::python
