#include "fovea/tensor/stored_format.h"

#include <array>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t kSmallBlock = 32, kLargeBlock = 256;

// In the order of StoredFormat.
constexpr std::array<StoredBlock, kStoredFormats> kStoredBlocks{{
    {"F32", 1, 4, 0, 0},
    {"F16", 1, 2, 0, 0},
    {"BF16", 1, 2, 0, 0},
    {"Q4_0", kSmallBlock, 18, 0, 1},
    {"Q4_1", kSmallBlock, 20, 0, 2},
    {"Q5_0", kSmallBlock, 22, 0, 1},
    {"Q5_1", kSmallBlock, 24, 0, 2},
    {"Q8_0", kSmallBlock, 34, 0, 1},
    {"Q2_K", kLargeBlock, 84, 80, 2},
    {"Q3_K", kLargeBlock, 110, 108, 1},
    {"Q4_K", kLargeBlock, 144, 0, 2},
    {"Q5_K", kLargeBlock, 176, 0, 2},
    {"Q6_K", kLargeBlock, 210, 208, 1},
    {"IQ4_NL", kSmallBlock, 18, 0, 1},
    {"IQ4_XS", kLargeBlock, 136, 0, 1},
    {"MXFP4", kSmallBlock, 17, 0, 0},
}};

}  // namespace

const StoredBlock& stored_block(StoredFormat format) {
  return kStoredBlocks[static_cast<size_t>(format)];
}

StoredFormat stored_format_of(DType dtype) {
  if (dtype == DType::kF32) return StoredFormat::kF32;
  if (dtype == DType::kF16) return StoredFormat::kF16;
  if (dtype == DType::kBF16) return StoredFormat::kBF16;
  fail(ErrorKind::kInvalidArgument,
       "weights of {} cannot be multiplied with; F32, BF16 and F16 can", dtype_name(dtype));
}

}  // namespace fovea
