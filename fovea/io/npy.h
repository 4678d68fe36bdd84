// numpy's .npy files: one array each.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Versions 1 to 3, little-endian bool, int8..64, uint8..64, float16..64. The tensor borrows the
// mapped file; an array in Fortran order is copied into C order. Throws Error{kBadFile} on a
// damaged file and Error{kUnsupported} for other element types.
Tensor read_npy(const std::filesystem::path& path);
// As read_npy, for bytes in memory; messages begin with `source`. Without `keep_alive` the tensor
// is a copy.
Tensor parse_npy(Bytes bytes, std::string_view source,
                 std::shared_ptr<const void> keep_alive = nullptr);

// Writes atomically the same bytes as numpy.save. Throws Error{kUnsupported} for BF16, which numpy
// does not have.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace fovea
