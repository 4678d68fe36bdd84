// The keys of one attention, a vector per patch: methods that find objects read them.
#pragma once

#include <cstdint>
#include <functional>

#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// The keys of all key heads side by side, without special tokens: f32 [patches, kv_heads *
// head_dim]. They are as attention used them, rotary positions included. Throws
// Error{kInvalidArgument} unless the record's columns run along `axis`.
Tensor patch_keys(const AttentionRecord& record, const PictureAxis& axis);

// Throws Error{kInvalidArgument} unless `keys` is f32 [patches of the grid, width], with two
// patches or more.
void check_keys(const Tensor& keys, GridShape grid);

// Calls visit(row, products) for blocks of rows of K K^T in order. `products` is f32 [block rows,
// patches - row]: it begins at the column of the block's first row, since the rest is the same by
// symmetry. Cost patches^2 * width / 2; memory of one block.
void for_each_key_product(const Tensor& keys,
                          const std::function<void(int64_t, MatrixView<const float>)>& visit);

}  // namespace fovea
