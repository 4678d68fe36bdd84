#include "fovea/ops/embedding.h"

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

}  // namespace fovea::ops
