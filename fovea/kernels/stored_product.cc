#include "fovea/kernels/stored_product.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>

#include "fovea/kernels/fixed_product.h"
#include "fovea/kernels/onednn_product.h"
#include "fovea/kernels/parallel_rows.h"
#include "fovea/kernels/row_blocks.h"
#include "fovea/kernels/row_products.h"
#include "fovea/kernels/unpack.h"

namespace fovea {
namespace {

// Rows [first, first + count) of the weights, one after the other.
void unpack_rows(const StoredMatrix& weight, int64_t first, int64_t count, float* to) {
  parallel_rows(count, weight.cols(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      unpack(weight.format(), weight.row(first + r), weight.cols(), to + r * weight.cols());
    }
  });
}

// [rows, cols] of what is stored as [cols, rows]; a block of 32 x 32 at a time stays in the cache.
template <typename T>
Tensor turned(const Tensor& numbers) {
  constexpr int64_t kBlock = 32;
  const int64_t rows = numbers.size(1), cols = numbers.size(0);
  Tensor result = Tensor::uninitialized({rows, cols}, numbers.dtype());
  const auto* from = reinterpret_cast<const T*>(numbers.raw());
  auto* to = reinterpret_cast<T*>(result.mutable_raw());
  parallel_rows((rows + kBlock - 1) / kBlock, kBlock * cols, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin * kBlock; block < std::min(end * kBlock, rows); block += kBlock) {
      for (int64_t first = 0; first < cols; first += kBlock) {
        for (int64_t r = block; r < std::min(block + kBlock, rows); ++r) {
          for (int64_t c = first; c < std::min(first + kBlock, cols); ++c) {
            to[r * cols + c] = from[c * rows + r];
          }
        }
      }
    }
  });
  return result;
}

StoredMatrix in_rows(const StoredMatrix& weight) {
  if (!weight.is_transposed()) return weight;
  FOVEA_ASSERT(stored_block(weight.format()).elements == 1);
  const Tensor& numbers = weight.numbers();
  return dtype_bytes(numbers.dtype()) == 2 ? turned<uint16_t>(numbers) : turned<uint32_t>(numbers);
}

int64_t panel_rows(const StoredMatrix& weight) {
  constexpr int64_t kPanelNumbers = 1 << 20, kStep = 64;  // 4 MB of f32
  const int64_t most = std::max(kStep, kPanelNumbers / weight.cols() / kStep * kStep);
  const int64_t panels = (weight.rows() + most - 1) / most;
  // Of nearly the same size.
  const int64_t rows = (weight.rows() + panels - 1) / panels;
  return std::min((rows + kStep - 1) / kStep * kStep, weight.rows());
}

// to <- from + residual, where there is one.
void put_rows(MatrixView<const float> from, MatrixView<const float> residual,
              MatrixView<float> to) {
  parallel_rows(from.rows, from.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = from.row(r);
      if (residual.data == nullptr) {
        std::copy_n(row, from.cols, to.row(r));
      } else {
        std::transform(row, row + from.cols, residual.row(r), to.row(r), std::plus<>());
      }
    }
  });
}

// The part of an epilogue that is about these outputs.
Epilogue part_of(const Epilogue& epilogue, int64_t first, int64_t count) {
  Epilogue part = epilogue;
  if (!part.bias.empty()) {
    part.bias = part.bias.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  }
  if (part.residual.data != nullptr) {
    part.residual = part.residual.block(0, first, part.residual.rows, count);
  }
  return part;
}

}  // namespace

// Made when they are first needed: a model whose inputs are short never does.
struct StoredProduct::PanelProducts {
  std::once_flag once;
  std::optional<OnednnProduct> whole, last;
};

StoredProduct::StoredProduct(StoredMatrix weight, DType compute)
    : weight_(in_rows(weight)),
      compute_(compute),
      panel_(panel_rows(weight_)),
      products_(std::make_shared<PanelProducts>()) {}

Tensor StoredProduct::unpack() const {
  Tensor plain = Tensor::uninitialized({weight_.rows(), weight_.cols()});
  unpack_rows(weight_, 0, weight_.rows(), plain.mutable_values<float>().data());
  if (compute_ == DType::kI16) round_to_fixed_units(plain.mutable_matrix<float>());
  return plain;
}

void StoredProduct::apply(MatrixView<const float> x, const Epilogue& epilogue,
                          MatrixView<float> out) const {
  if (x.rows <= kFewRows) return row_products(x, weight_, compute_, epilogue, out);
  compute_ == DType::kI16 ? apply_fixed(x, epilogue, out) : apply_panels(x, epilogue, out);
}

void StoredProduct::apply_panels(MatrixView<const float> x, const Epilogue& epilogue,
                                 MatrixView<float> out) const {
  const int64_t depth = weight_.cols(), outputs = weight_.rows();
  std::call_once(products_->once, [&] {
    products_->whole.emplace(depth, panel_);
    if (const int64_t last = outputs % panel_; last != 0) products_->last.emplace(depth, last);
  });
  Tensor plain = Tensor::uninitialized({panel_, depth});
  Tensor packed =
      Tensor::uninitialized({static_cast<int64_t>(products_->whole->packed_bytes())}, DType::kU8);
  // oneDNN is fast only where the rows of a result lie next to each other.
  const bool apart = panel_ < outputs;
  Tensor dense = Tensor::uninitialized({apart ? x.rows * panel_ : 0});
  for (int64_t first = 0; first < outputs; first += panel_) {
    const int64_t count = std::min(panel_, outputs - first);
    const OnednnProduct& product = count == panel_ ? *products_->whole : *products_->last;
    unpack_rows(weight_, first, count, plain.mutable_values<float>().data());
    product.pack(plain.values<float>().data(), WeightLayout::kOutIn, packed.mutable_raw());
    Epilogue part = part_of(epilogue, first, count);
    const MatrixView<const float> residual = part.residual;
    if (apart) part.residual = {};
    const MatrixView<float> to =
        apart ? MatrixView<float>(dense.mutable_values<float>().data(), x.rows, count) : out;
    for_row_blocks(x.rows, depth * count, [&](int64_t row, int64_t rows) {
      Epilogue block = part;
      if (part.residual.data != nullptr) block.residual = residual.block(row, 0, rows, count);
      product.apply(packed.raw(), x.block(row, 0, rows, depth), block,
                    to.block(row, 0, rows, count));
    });
    if (apart) put_rows(to, residual, out.block(0, first, out.rows, count));
  }
}

void StoredProduct::apply_fixed(MatrixView<const float> x, const Epilogue& epilogue,
                                MatrixView<float> out) const {
  const int64_t outputs = weight_.rows();
  FixedRows rows(x.rows, x.cols);
  parallel_rows(x.rows, x.cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) rows.set(r, x.row(r));
  });
  for (int64_t first = 0; first < outputs; first += panel_) {
    const int64_t count = std::min(panel_, outputs - first);
    const FixedWeights panel(count, 1, weight_.cols(), [&](int64_t column, float* to) {
      fovea::unpack(weight_.format(), weight_.row(first + column), weight_.cols(), to);
    });
    const Epilogue part = part_of(epilogue, first, count);
    fixed_products(rows, {.length = x.rows}, panel,
                   {.bias = part.bias,
                    .activation = part.activation,
                    .residual = part.residual.data,
                    .residual_row_step = part.residual.stride,
                    .data = out.data + first,
                    .row_step = out.stride});
  }
}

}  // namespace fovea
