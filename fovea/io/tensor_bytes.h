// Turns bytes of a file, which may hold anything, into a tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Each `where` names the file and the tensor; messages begin with it.

// Throws Error{kBadFile} on a negative size or when the element count overflows.
Shape shape_from_file(std::vector<int64_t> sizes, std::string_view where);

// Throws Error{kBadFile} if a byte of a BOOL tensor is neither 0 nor 1: C++ must not see it as
// bool.
void check_bool_bytes(Bytes bytes, std::string_view where);

// Borrows `bytes`, which must have the size that shape and dtype ask for. Copies them when they are
// not aligned for the type or when nothing keeps them alive.
Tensor tensor_from_bytes(Shape shape, DType dtype, Bytes bytes,
                         std::shared_ptr<const void> keep_alive);

}  // namespace fovea
