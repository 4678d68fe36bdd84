#include "fovea/ops/embedding.h"

#include <utility>
#include <vector>

#include "fovea/kernels/unpack.h"
#include "fovea/ops/check.h"

namespace fovea::ops {
namespace {

void check_ids(int64_t entries, std::span<const int64_t> ids) {
  for (const int64_t id : ids) {
    if (id < 0 || id >= entries) {
      fail(ErrorKind::kInvalidArgument, "embedding: number {} is not in a table of {} entries", id,
           entries);
    }
  }
}

}  // namespace

Tensor embedding(const StoredMatrix& table, std::span<const int64_t> ids) {
  check_ids(table.rows(), ids);
  Tensor rows = Tensor::uninitialized({static_cast<int64_t>(ids.size()), table.cols()});
  const MatrixView<float> to = rows.mutable_matrix<float>();
  for (size_t i = 0; i < ids.size(); ++i) {
    unpack(table.format(), table.row(ids[i]), table.cols(), to.row(static_cast<int64_t>(i)));
  }
  return rows;
}

Value embedding(const Value& table, std::span<const int64_t> ids) {
  if (table.tensor.rank() != 2) {
    fail(ErrorKind::kInvalidArgument,
         "embedding: the table has shape {}; it must be [entries, dim]", to_string(table.shape()));
  }
  Tensor out = embedding(StoredMatrix(table.tensor), ids);
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
