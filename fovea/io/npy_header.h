// What stands before the elements of a .npy file: magic, version, length and a Python dict literal.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/tensor/dtype.h"
#include "fovea/tensor/shape.h"

namespace fovea {

struct NpyHeader {
  DType dtype = DType::kF32;
  bool fortran_order = false;
  Shape shape;
  size_t data_offset = 0;  // from the beginning of the file
};

// Throws Error{kBadFile} or, for element types that fovea does not have, Error{kUnsupported}.
NpyHeader parse_npy_header(Bytes file, std::string_view source);

// As numpy writes it, byte for byte. Throws Error{kUnsupported} for BF16.
std::string make_npy_header(const Shape& shape, DType dtype, std::string_view source);
// The same for texts, each of which takes up `letters` letters of 4 bytes.
std::string make_npy_header_of_texts(const Shape& shape, size_t letters);
// Whether these bytes begin a .npy file of texts.
bool begins_npy_of_texts(Bytes file);

}  // namespace fovea
