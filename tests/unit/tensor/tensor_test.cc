#include "fovea/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "support/errors.h"

namespace fovea {
namespace {

using testing::Each;
using testing::ElementsAre;

Tensor counting(Shape shape) {
  Tensor tensor(std::move(shape));
  const auto values = tensor.mutable_values<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

TEST(Tensor, StartsAsAlignedZeros) {
  const Tensor tensor({3, 5}, DType::kI32);
  EXPECT_EQ(tensor.elements(), 15);
  EXPECT_EQ(tensor.bytes(), 60U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % 64, 0U);
  EXPECT_THAT(tensor.values<int32_t>(), Each(0));
}

TEST(Tensor, MadeByDefaultIsAnEmptyF32Vector) {
  const Tensor tensor;
  EXPECT_TRUE(tensor.empty());
  EXPECT_EQ(tensor.shape(), Shape({0}));
  EXPECT_EQ(tensor.dtype(), DType::kF32);
}

TEST(Tensor, TakesValuesThatFillItsShape) {
  const Tensor tensor = Tensor::from({2, 2}, std::vector<int64_t>{1, 2, 3, 4});
  EXPECT_EQ(tensor.dtype(), DType::kI64);
  EXPECT_THAT(tensor.values<int64_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "needs 4 values but 3", [] {
    Tensor::from({2, 2}, std::vector<float>{1, 2, 3});
  }));
}

TEST(Tensor, SaysWhenThereIsNoMemoryForIt) {
  for (const DType dtype : {DType::kF32, DType::kU8}) {
    EXPECT_TRUE(fails_with(ErrorKind::kOutOfMemory, "bytes of memory were asked for",
                           [&] { Tensor(Shape{INT64_MAX / 8}, dtype); }));
    EXPECT_TRUE(fails_with(ErrorKind::kOutOfMemory, "bytes of memory were asked for",
                           [&] { Tensor::uninitialized(Shape{INT64_MAX / 8}, dtype); }));
  }
}

TEST(Tensor, CopiesShareElementsAndClonesDoNot) {
  const Tensor tensor = counting({4});
  const Tensor copy = tensor;
  Tensor clone = tensor.clone();
  EXPECT_EQ(copy.raw(), tensor.raw());
  EXPECT_NE(clone.raw(), tensor.raw());
  clone.mutable_values<float>()[0] = 9;
  EXPECT_THAT(tensor.values<float>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(clone.values<float>(), ElementsAre(9, 1, 2, 3));
}

TEST(Tensor, SharedElementsOutliveTheTensorThatMadeThem) {
  auto first = std::make_unique<Tensor>(counting({3}));
  const Tensor second = first->reshaped({1, 3});
  first.reset();
  EXPECT_THAT(second.values<float>(), ElementsAre(0, 1, 2));
}

TEST(Tensor, BorrowKeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    const auto* data = reinterpret_cast<const std::byte*>(owner->data());
    const Tensor borrowed = Tensor::borrow({2, 2}, DType::kF32, data, std::move(owner));
    const Tensor copy = borrowed.reshaped({4});
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(copy.raw(), data);
    EXPECT_THAT(copy.values<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_NE(borrowed.clone().raw(), data);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, ReshapeKeepsTheElementsAndTheirNumber) {
  const Tensor tensor = counting({2, 6});
  EXPECT_EQ(tensor.reshaped({3, 2, 2}).shape(), Shape({3, 2, 2}));
  EXPECT_EQ(tensor.reshaped({12}).raw(), tensor.raw());
  EXPECT_EQ(Tensor({0, 5}).reshaped({7, 0}).shape(), Shape({7, 0}));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "[2, 6] cannot be seen as [5]",
                         [&] { tensor.reshaped({5}); }));
}

TEST(Tensor, RefusesToBeReadAsAnotherType) {
  const Tensor tensor({2}, DType::kF16);
  EXPECT_TRUE(
      fails_with(ErrorKind::kInternal, "F16 was read as F32", [&] { tensor.values<float>(); }));
}

TEST(Tensor, MatrixHasTheLastAxisAsColumns) {
  const Tensor tensor = counting({2, 3, 4});
  const auto all = tensor.matrix<float>();
  EXPECT_EQ(all.rows, 6);
  EXPECT_EQ(all.cols, 4);
  EXPECT_EQ(all(4, 1), 17);
  const auto second = tensor.matrix<float>(1);
  EXPECT_EQ(second.rows, 3);
  EXPECT_EQ(second.cols, 4);
  EXPECT_EQ(second(2, 3), 23);
  const auto block = second.block(1, 2, 2, 2);
  EXPECT_EQ(block(0, 0), 18);
  EXPECT_EQ(block(1, 1), 23);
  EXPECT_EQ(block.stride, 4);
}

TEST(Tensor, MatrixOfScalarVectorAndEmptyShapes) {
  const auto expect = [](const Shape& shape, int64_t rows, int64_t cols) {
    const Tensor tensor(shape);
    EXPECT_EQ(tensor.matrix<float>().rows, rows) << to_string(shape);
    EXPECT_EQ(tensor.matrix<float>().cols, cols) << to_string(shape);
  };
  expect({}, 1, 1);
  expect({5}, 1, 5);
  expect({0}, 1, 0);
  expect({3, 0}, 3, 0);
  expect({0, 3}, 0, 3);
  expect({2, 0, 3}, 0, 3);
}

TEST(Tensor, OneEntryOfAnEmptyStackIsAnEmptyMatrix) {
  const Tensor no_columns({2, 3, 0});
  EXPECT_EQ(no_columns.matrix<float>(1).rows, 3);
  EXPECT_EQ(no_columns.matrix<float>(1).cols, 0);
  Tensor no_rows({2, 0, 4});
  EXPECT_EQ(no_rows.mutable_matrix<float>(1).rows, 0);
  EXPECT_EQ(no_rows.mutable_matrix<float>(1).cols, 4);
}

TEST(Tensor, ChangesThroughAMutableMatrixAreSeen) {
  Tensor tensor({2, 2, 2});
  tensor.mutable_matrix<float>(1)(0, 1) = 5;
  tensor.mutable_matrix<float>()(0, 0) = 1;
  EXPECT_THAT(tensor.values<float>(), ElementsAre(1, 0, 0, 0, 0, 5, 0, 0));
}

}  // namespace
}  // namespace fovea
