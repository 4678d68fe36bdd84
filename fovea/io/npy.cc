#include "fovea/io/npy.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/npy_header.h"
#include "fovea/io/tensor_bytes.h"

namespace fovea {
namespace {

// Axes of an array whose first axis is contiguous in the source and whose last is in the result.
struct Axis {
  int64_t size;
  int64_t source_stride;
  int64_t result_stride;
};

std::vector<Axis> axes_of(const Shape& shape) {
  std::vector<Axis> axes;
  int64_t source_stride = 1;
  int64_t result_stride = shape.elements();
  for (const int64_t size : shape.sizes()) {
    result_stride /= size;
    if (size > 1) axes.push_back({size, source_stride, result_stride});
    source_stride *= size;
  }
  return axes;
}

// result[i * rows.result_stride + j] = source[i + j * cols.source_stride], in blocks that stay in
// the cache whichever side is read along the grain.
template <typename Word>
void transpose(const std::byte* source, std::byte* result, const Axis& rows, const Axis& cols) {
  constexpr int64_t kBlock = 32;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
  for (int64_t row_block = 0; row_block < rows.size; row_block += kBlock) {
    for (int64_t col_block = 0; col_block < cols.size; col_block += kBlock) {
      const int64_t row_end = std::min(row_block + kBlock, rows.size);
      const int64_t col_end = std::min(col_block + kBlock, cols.size);
      for (int64_t i = row_block; i < row_end; ++i) {
        for (int64_t j = col_block; j < col_end; ++j) {
          std::memcpy(result + (i * rows.result_stride + j) * kBytes,
                      source + (i + j * cols.source_stride) * kBytes, sizeof(Word));
        }
      }
    }
  }
}

template <typename Word>
void copy_fortran(const std::byte* source, Tensor& result) {
  const std::vector<Axis> axes = axes_of(result.shape());
  if (axes.size() < 2) {
    if (result.bytes() > 0) std::memcpy(result.mutable_raw(), source, result.bytes());
    return;
  }
  // The outer axes count like an odometer; the first and the last are one transpose each time.
  std::byte* const target = result.mutable_raw();
  const std::span<const Axis> outer(axes.data() + 1, axes.size() - 2);
  std::vector<int64_t> index(outer.size(), 0);
  for (;;) {
    int64_t source_offset = 0;
    int64_t result_offset = 0;
    for (size_t a = 0; a < outer.size(); ++a) {
      source_offset += index[a] * outer[a].source_stride;
      result_offset += index[a] * outer[a].result_stride;
    }
    constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
    transpose<Word>(source + source_offset * kBytes, target + result_offset * kBytes, axes.front(),
                    axes.back());
    size_t a = 0;
    while (a < outer.size() && ++index[a] == outer[a].size) index[a++] = 0;
    if (a == outer.size()) return;
  }
}

Tensor from_fortran(const NpyHeader& header, Bytes data) {
  Tensor result = Tensor::uninitialized(header.shape, header.dtype);
  if (result.empty()) return result;
  switch (dtype_bytes(header.dtype)) {
    case 1:
      copy_fortran<uint8_t>(data.data(), result);
      break;
    case 2:
      copy_fortran<uint16_t>(data.data(), result);
      break;
    case 4:
      copy_fortran<uint32_t>(data.data(), result);
      break;
    default:
      copy_fortran<uint64_t>(data.data(), result);
      break;
  }
  return result;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  auto mapped = MappedFile::open(path);
  const Bytes bytes = mapped->bytes();
  return parse_npy(bytes, path.string(), std::move(mapped));
}

Tensor parse_npy(Bytes bytes, std::string_view source, std::shared_ptr<const void> keep_alive) {
  const NpyHeader header = parse_npy_header(bytes, source);
  const Bytes data = bytes.subspan(header.data_offset);
  const size_t needed = static_cast<size_t>(header.shape.elements()) * dtype_bytes(header.dtype);
  if (data.size() != needed) {
    fail(ErrorKind::kBadFile, "{}: shape {} of {} needs {} bytes but {} follow the header; {}",
         source, shorten(to_string(header.shape), 80), dtype_name(header.dtype), needed,
         data.size(),
         data.size() < needed ? "perhaps an incomplete download" : "save one array per file");
  }
  if (header.dtype == DType::kBool) check_bool_bytes(data, source);
  if (header.fortran_order) return from_fortran(header, data);
  return tensor_from_bytes(header.shape, header.dtype, data, std::move(keep_alive));
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  const std::string header = make_npy_header(tensor.shape(), tensor.dtype(), path.string());
  write_file_atomic(path, [&](FileWriter& file) {
    file.write(header);
    file.write(Bytes{tensor.raw(), tensor.bytes()});
  });
}

}  // namespace fovea
