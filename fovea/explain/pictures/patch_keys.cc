#include "fovea/explain/pictures/patch_keys.h"

#include <algorithm>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/kernels/matmul.h"
#include "fovea/tensor/convert.h"

namespace fovea {

Tensor patch_keys(const AttentionRecord& record, const PictureAxis& axis) {
  check_has_queries(record, "patches are compared by");
  const AttentionShape shape = record.shape();
  if (shape.cols != axis.positions()) {
    fail(ErrorKind::kInvalidArgument,
         "{} has {} keys but the picture has {} special tokens and {} patches",
         to_string(record.site), shape.cols, axis.specials, axis.grid.patches());
  }
  const Tensor heads = convert(record.keys, DType::kF32);
  Tensor keys = Tensor::uninitialized({axis.grid.patches(), shape.kv_heads * shape.head_dim});
  const MatrixView<float> out = keys.mutable_matrix<float>();
  for (int64_t head = 0; head < shape.kv_heads; ++head) {
    for (int64_t patch = 0; patch < axis.grid.patches(); ++patch) {
      std::copy_n(heads.matrix<float>(head).row(axis.specials + patch), shape.head_dim,
                  out.row(patch) + head * shape.head_dim);
    }
  }
  return keys;
}

void check_keys(const Tensor& keys, GridShape grid) {
  if (keys.dtype() == DType::kF32 && keys.rank() == 2 && keys.size(0) == grid.patches() &&
      keys.size(0) >= 2 && keys.size(1) >= 1) {
    return;
  }
  if (keys.size(0) == 1 && grid.patches() == 1) {
    fail(ErrorKind::kInvalidArgument, Field{"size"},
         "the picture has one patch, which cannot be told apart from others; take a larger one");
  }
  fail(ErrorKind::kInvalidArgument,
       "keys {} {} do not fit a grid of {} x {}; give F32 [patches, width] of two patches or more",
       dtype_name(keys.dtype()), to_string(keys.shape()), grid.rows, grid.cols);
}

void for_each_key_product(const Tensor& keys,
                          const std::function<void(int64_t, MatrixView<const float>)>& visit) {
  constexpr int64_t kBlockRows = 256;
  const int64_t patches = keys.size(0);
  const MatrixView<const float> all = keys.matrix<float>();
  Tensor buffer = Tensor::uninitialized({std::min(kBlockRows, patches), patches});
  for (int64_t row = 0; row < patches; row += kBlockRows) {
    check_cancelled();
    const int64_t count = std::min(kBlockRows, patches - row);
    const auto products = buffer.mutable_matrix<float>().block(0, 0, count, patches - row);
    matmul(all.block(row, 0, count, all.cols), all.block(row, 0, patches - row, all.cols), products,
           {.transpose_b = true});
    visit(row, products);
  }
}

}  // namespace fovea
