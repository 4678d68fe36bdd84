#include "fovea/ops/embedding.h"

#include <utility>
#include <vector>

#include "fovea/ops/check.h"
#include "fovea/tensor/convert.h"

namespace fovea::ops {
namespace {

void check_ids(const Tensor& table, std::span<const int64_t> ids) {
  if (table.rank() != 2) {
    fail(ErrorKind::kInvalidArgument,
         "embedding: the table has shape {}; it must be [entries, dim]", to_string(table.shape()));
  }
  for (const int64_t id : ids) {
    if (id < 0 || id >= table.size(0)) {
      fail(ErrorKind::kInvalidArgument, "embedding: number {} is not in a table of {} entries", id,
           table.size(0));
    }
  }
}

}  // namespace

Value embedding(const Value& table, std::span<const int64_t> ids) {
  check_ids(table.tensor, ids);
  const int64_t dim = table.shape()[1];
  const auto row_bytes = static_cast<int64_t>(dtype_bytes(table.tensor.dtype())) * dim;
  Tensor rows =
      Tensor::uninitialized({static_cast<int64_t>(ids.size()), dim}, table.tensor.dtype());
  std::byte* to = rows.mutable_raw();
  for (const int64_t id : ids) {
    const std::byte* row = table.tensor.raw() + id * row_bytes;
    to = std::copy(row, row + row_bytes, to);
  }
  Tensor out = convert(rows, DType::kF32);  // only the rows that are used
  if (!table.watched()) return out;
  return table.tape->record(
      std::move(out), {table.node},
      [shape = table.shape(), numbers = std::vector<int64_t>(ids.begin(), ids.end())](
          const Tensor& gradient, InputGradients& inputs) {
        Tensor result(shape);
        const MatrixView<float> sums = result.mutable_matrix<float>();
        const MatrixView<const float> parts = gradient.matrix<float>();
        for (size_t i = 0; i < numbers.size(); ++i) {
          float* sum = sums.data + numbers[i] * sums.cols;
          const float* part = parts.data + static_cast<int64_t>(i) * parts.cols;
          for (int64_t c = 0; c < sums.cols; ++c) sum[c] += part[c];
        }
        inputs.add(0, std::move(result));
      });
}

}  // namespace fovea::ops
