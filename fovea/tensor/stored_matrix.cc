#include "fovea/tensor/stored_matrix.h"

#include <memory>
#include <utility>

namespace fovea {

StoredMatrix::StoredMatrix(Tensor numbers) : format_(stored_format_of(numbers.dtype())) {
  if (numbers.rank() != 2) {
    fail(ErrorKind::kInvalidArgument,
         "weights of shape {} cannot be multiplied with; they must be "
         "a matrix",
         to_string(numbers.shape()));
  }
  stored_rows_ = numbers.size(0);
  stored_cols_ = numbers.size(1);
  row_bytes_ = stored_cols_ * stored_block(format_).bytes;
  numbers_ = std::move(numbers);
}

StoredMatrix::StoredMatrix(StoredFormat format, int64_t rows, int64_t cols, Tensor blocks)
    : format_(format), stored_rows_(rows), stored_cols_(cols), numbers_(std::move(blocks)) {
  const StoredBlock& block = stored_block(format);
  FOVEA_ASSERT(cols % block.elements == 0);
  row_bytes_ = cols / block.elements * block.bytes;
  FOVEA_ASSERT(static_cast<int64_t>(numbers_.bytes()) == rows * row_bytes_);
}

StoredMatrix StoredMatrix::held_in(Tensor numbers) const {
  FOVEA_ASSERT(numbers.bytes() == numbers_.bytes());
  StoredMatrix matrix = *this;
  matrix.numbers_ = std::move(numbers);
  return matrix;
}

StoredMatrix StoredMatrix::rows_between(int64_t begin, int64_t end) const {
  FOVEA_ASSERT(!transposed_ && half_rows_ == 0 && begin >= 0 && begin <= end &&
               end <= stored_rows_);
  StoredMatrix part = *this;
  part.stored_rows_ = end - begin;
  const DType type = numbers_.dtype();
  const auto bytes = part.stored_rows_ * row_bytes_;
  const Shape shape = numbers_.rank() == 2 ? Shape{part.stored_rows_, stored_cols_}
                                           : Shape{bytes / static_cast<int64_t>(dtype_bytes(type))};
  part.numbers_ = Tensor::borrow(shape, type, numbers_.raw() + begin * row_bytes_,
                                 std::make_shared<const Tensor>(numbers_));
  return part;
}

StoredMatrix StoredMatrix::transposed() const {
  StoredMatrix matrix = *this;
  matrix.transposed_ = !transposed_;
  return matrix;
}

StoredMatrix StoredMatrix::with_halves_mixed(int64_t heads) const {
  FOVEA_ASSERT(!transposed_ && (heads == 0 || stored_rows_ % (2 * heads) == 0));
  StoredMatrix matrix = *this;
  matrix.half_rows_ = heads == 0 ? 0 : stored_rows_ / (2 * heads);
  return matrix;
}

}  // namespace fovea
