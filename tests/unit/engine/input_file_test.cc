#include "fovea/engine/input_file.h"

#include <gtest/gtest.h>

#include "fovea/io/safetensors.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

class InputFile : public testing::Test {
 protected:
  ModelInputs read(std::vector<NamedTensor> tensors) const {
    write_safetensors(path_, tensors);
    return read_inputs(path_);
  }
  template <typename T>
  static Tensor numbers(std::vector<T> values, Shape shape = {3}) {
    return Tensor::from<T>(shape, std::span<const T>(values));
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "inputs.safetensors";
};

TEST_F(InputFile, WholeNumbersOfAnyWidthAreTaken) {
  const std::vector<int64_t> expected{7, 8, 9};
  EXPECT_EQ(read({{"input_ids", numbers<int64_t>({7, 8, 9})}}).input_ids, expected);
  EXPECT_EQ(read({{"input_ids", numbers<int32_t>({7, 8, 9})}}).input_ids, expected);
  EXPECT_EQ(read({{"input_ids", numbers<uint8_t>({7, 8, 9})}}).input_ids, expected);
  const ModelInputs inputs = read({{"input_ids", numbers<int64_t>({7, 8, 9}, {1, 3})},
                                   {"token_type_ids", numbers<int64_t>({0, 0, 1})},
                                   {"attention_mask", numbers<int32_t>({1, 1, 0})}});
  EXPECT_EQ(inputs.input_ids, expected);
  EXPECT_EQ(inputs.token_type_ids, (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(inputs.attention_mask, (std::vector<int64_t>{1, 1, 0}));
}

TEST_F(InputFile, OtherThingsAreRefusedByName) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "holds neither input_ids nor input_features", [&] {
    read({{"attention_mask", numbers<int64_t>({1, 1, 0})}});
  }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "'input_ids' is empty; give at least one number", [&] {
        read({{"input_ids", Tensor(Shape{0}, DType::kI64)}});
      }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'labels'", [&] {
    read({{"input_ids", numbers<int64_t>({1, 2, 3})}, {"labels", numbers<float>({1, 2, 3})}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'pixel_mask' has shape [3]", [&] {
    read({{"pixel_values", Tensor(Shape{3, 1, 3})}, {"pixel_mask", numbers<int64_t>({1, 1, 0})}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'pixel_mask' is of the type F32", [&] {
    read({{"pixel_values", Tensor(Shape{3, 1, 3})}, {"pixel_mask", Tensor(Shape{1, 3})}});
  }));
  Tensor mask(Shape{1, 2, 3}, DType::kBool);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'pixel_mask' is 0 at all 6 positions", [&] {
    read({{"pixel_values", Tensor(Shape{3, 2, 3})}, {"pixel_mask", mask}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'attention_mask' is 0 at all 3 positions", [&] {
    read({{"input_ids", numbers<int64_t>({7, 8, 9})},
          {"attention_mask", numbers<int64_t>({0, 0, 0})}});
  }));
  mask.mutable_values<bool>()[0] = true;
  const ModelInputs masked = read({{"pixel_values", Tensor(Shape{3, 2, 3})}, {"pixel_mask", mask}});
  EXPECT_EQ(masked.pixel_mask.shape(), Shape({2, 3}));
  EXPECT_EQ(masked.pixel_mask.dtype(), DType::kI64);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'input_ids' is of the type F32", [&] {
    read({{"input_ids", numbers<float>({1, 2, 3})}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'input_ids' has shape [2, 3]", [&] {
    read({{"input_ids", numbers<int64_t>({1, 2, 3, 4, 5, 6}, {2, 3})}});
  }));
}

TEST_F(InputFile, PicturesAreTakenWithAndWithoutABatchOfOne) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(read({{"pixel_values", numbers<float>(values, {1, 2, 3})}}).pixel_values.shape(),
            Shape({1, 2, 3}));
  const ModelInputs batch = read({{"pixel_values", numbers<float>(values, {1, 1, 2, 3})}});
  EXPECT_EQ(batch.pixel_values.shape(), Shape({1, 2, 3}));
  EXPECT_EQ(batch.pixel_values.values<float>()[4], 5);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "has shape [2, 1, 1, 3]", [&] {
    read({{"pixel_values", numbers<float>(values, {2, 1, 1, 3})}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "must be [channels, height, width]", [&] {
    read({{"pixel_values", numbers<float>(values, {2, 3})}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "[3, 0, 5]", [&] {
    read({{"pixel_values", Tensor(Shape{3, 0, 5})}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "holds nan", [&] {
    read({{"pixel_values", numbers<float>({1, NAN, 3}, {1, 1, 3})}});
  }));
}

TEST_F(InputFile, AFileThatIsNoneIsRefused) {
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "nothing.safetensors",
                         [&] { read_inputs(folder_ / "nothing.safetensors"); }));
  write_text(folder_ / "bad.safetensors", "no safetensors file");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "bad.safetensors",
                         [&] { read_inputs(folder_ / "bad.safetensors"); }));
}

}  // namespace
}  // namespace fovea
