#include "fovea/kernels/unpack.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/random.h"
#include "support/sanitized.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::random_tensor;
using support::to_doubles;

// The bytes of one block.
class BlockBytes {
 public:
  explicit BlockBytes(const uint8_t* at) : at_(at) {}
  int byte(int64_t i) const { return at_[i]; }
  int signed_byte(int64_t i) const { return static_cast<int8_t>(at_[i]); }
  // Bits [first, first + count) of a stream of bits that begins at byte `begin`, low bits first.
  int bits(int64_t begin, int64_t first, int64_t count) const {
    int value = 0;
    for (int64_t i = 0; i < count; ++i) {
      value |= (at_[begin + (first + i) / 8] >> ((first + i) % 8) & 1) << i;
    }
    return value;
  }
  double half(int64_t i) const {
    return double{to_float(F16{static_cast<uint16_t>(at_[i] | at_[i + 1] << 8)})};
  }

 private:
  const uint8_t* at_;
};

// A number as scale * q + offset; the parts tell how much rounding is allowed.
struct Number {
  double product;
  double offset = 0;
};

// Number i of 32 in nibbles: the first half in the low ones.
int nibble(const BlockBytes& b, int64_t begin, int64_t i) {
  return b.bits(begin, i % 16 * 8 + i / 16 * 4, 4);
}

// Scale or minimum g of eight, of 6 bits (Q4_K, Q5_K), from byte `begin` on.
int six_bits(const BlockBytes& b, int64_t begin, int64_t g, bool minimum) {
  if (g < 4) return b.byte(begin + g + (minimum ? 4 : 0)) & 63;
  const int low = b.bits(begin + 4 + g, minimum ? 4 : 0, 4);
  return low | b.byte(begin + g - 4 + (minimum ? 4 : 0)) >> 6 << 4;
}

constexpr int kNonLinear[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};

constexpr double kFourBits[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

// Number i of the block at `b`: ggml's definition, bit by bit.
Number number_of(StoredFormat format, const BlockBytes& b, int64_t i) {
  switch (format) {
    case StoredFormat::kQ8_0:
      return {b.half(0) * b.signed_byte(2 + i)};
    case StoredFormat::kQ4_0:
      return {b.half(0) * (nibble(b, 2, i) - 8)};
    case StoredFormat::kQ4_1:
      return {b.half(0) * nibble(b, 4, i), b.half(2)};
    case StoredFormat::kQ5_0:
      return {b.half(0) * (nibble(b, 6, i) + 16 * b.bits(2, i, 1) - 16)};
    case StoredFormat::kQ5_1:
      return {b.half(0) * (nibble(b, 8, i) + 16 * b.bits(4, i, 1)), b.half(2)};
    case StoredFormat::kIQ4NL:
      return {b.half(0) * kNonLinear[nibble(b, 2, i)]};
    case StoredFormat::kMXFP4: {
      const int bits = nibble(b, 1, i);
      return {std::exp2(b.byte(0) - 127) * kFourBits[bits & 7] * (bits < 8 ? 1 : -1)};
    }
    case StoredFormat::kIQ4XS: {
      const int64_t g = i / 32;
      const int scale = b.bits(4, 4 * g, 4) | b.bits(2, 2 * g, 2) << 4;
      return {b.half(0) * (scale - 32) * kNonLinear[nibble(b, 8 + 16 * g, i % 32)]};
    }
    case StoredFormat::kQ2K: {
      const int64_t part = i / 128, k = i % 128 / 32, at = 16 + 32 * part + i % 32;
      return {b.half(80) * (b.byte(i / 16) & 15) * b.bits(at, 2 * k, 2),
              -b.half(82) * (b.byte(i / 16) >> 4)};
    }
    case StoredFormat::kQ3K: {
      const int64_t part = i / 128, k = i % 128 / 32, g = i / 16;
      const int scale = b.bits(96 + g % 8, g / 8 * 4, 4) | b.bits(104 + g % 4, g / 4 * 2, 2) << 4;
      const int q = b.bits(32 + 32 * part + i % 32, 2 * k, 2) + 4 * b.bits(i % 32, 4 * part + k, 1);
      return {b.half(108) * (scale - 32) * (q - 4)};
    }
    case StoredFormat::kQ4K:
    case StoredFormat::kQ5K: {
      const bool five = format == StoredFormat::kQ5K;
      const int64_t g = i / 32, begin = five ? 48 : 16;
      int q = b.bits(begin + g / 2 * 32 + i % 32, g % 2 * 4, 4);
      if (five) q += 16 * b.bits(16 + i % 32, g, 1);
      return {b.half(0) * six_bits(b, 4, g, false) * q, -b.half(2) * six_bits(b, 4, g, true)};
    }
    case StoredFormat::kQ6K: {
      const int64_t part = i / 128, k = i % 128 / 32;
      const int low = b.bits(64 * part + k % 2 * 32 + i % 32, k / 2 * 4, 4);
      const int high = b.bits(128 + 32 * part + i % 32, 2 * k, 2);
      return {b.half(208) * b.signed_byte(192 + i / 16) * ((low | high << 4) - 32)};
    }
    default:
      ADD_FAILURE() << "not a format of blocks";
      return {0};
  }
}

std::vector<StoredFormat> block_formats() {
  std::vector<StoredFormat> formats;
  for (int i = 3; i < kStoredFormats; ++i) formats.push_back(static_cast<StoredFormat>(i));
  return formats;
}

// Blocks whose bits are random, with scales that are finite numbers, huge and tiny ones too.
std::vector<uint8_t> random_blocks(StoredFormat format, int64_t count) {
  const StoredBlock& block = stored_block(format);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * block.bytes));
  std::mt19937_64 random(static_cast<uint64_t>(format) + 1);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() >> 40);
  for (int64_t i = 0; i < count; ++i) {
    // Up to 6 * 2^122: more is no number of f32.
    if (format == StoredFormat::kMXFP4) bytes[static_cast<size_t>(i * block.bytes)] %= 250;
    for (int64_t s = 0; s < block.scales; ++s) {
      uint8_t& high = bytes[static_cast<size_t>(i * block.bytes + block.scales_at + 2 * s + 1)];
      if ((high & 0x7C) == 0x7C) high ^= 0x40;
    }
  }
  return bytes;
}

const std::byte* as_stored(const std::vector<uint8_t>& bytes) {
  return reinterpret_cast<const std::byte*>(bytes.data());
}

void expect_definition(StoredFormat format, int64_t blocks) {
  const StoredBlock& block = stored_block(format);
  const int64_t count = blocks * block.elements;
  const std::vector<uint8_t> bytes = random_blocks(format, blocks);
  ASSERT_TRUE(has_finite_scales(format, as_stored(bytes), count));
  std::vector<Number> wanted;
  for (int64_t i = 0; i < count; ++i) {
    const BlockBytes at(bytes.data() + i / block.elements * block.bytes);
    wanted.push_back(number_of(format, at, i % block.elements));
  }
  for_each_simd_target([&] {
    std::vector<float> found(static_cast<size_t>(count), -1);
    unpack(format, as_stored(bytes), count, found.data());
    for (size_t i = 0; i < found.size(); ++i) {
      const auto [product, offset] = wanted[i];
      // A rounding of the scale, of the product, of the offset and of the sum.
      const double bound = 2e-7 * (std::abs(product) + std::abs(offset));
      ASSERT_NEAR(found[i], product + offset, bound) << i;
    }
  });
}

TEST(Unpack, EveryFormatIsItsDefinitionOnEverySimdTarget) {
  // So many that every pattern of a scale or minimum of 8 bits and fewer is there, in each place.
  const int64_t many = support::kSanitized ? 100 : 4096;
  for (const StoredFormat format : block_formats()) {
    SCOPED_TRACE(stored_block(format).name);
    for (const int64_t blocks : {int64_t{1}, int64_t{7}, int64_t{8}, int64_t{19}, many}) {
      expect_definition(format, blocks);
    }
  }
}

TEST(Unpack, EveryFiniteNumberOfSixteenBitsIsWidenedExactly) {
  std::vector<uint16_t> bits(1 << 16);
  std::iota(bits.begin(), bits.end(), uint16_t{0});
  const auto* stored = reinterpret_cast<const std::byte*>(bits.data());
  for_each_simd_target([&] {
    std::vector<float> f16(bits.size()), bf16(bits.size());
    unpack(StoredFormat::kF16, stored, std::ssize(bits), f16.data());
    unpack(StoredFormat::kBF16, stored, std::ssize(bits), bf16.data());
    for (size_t i = 0; i < bits.size(); ++i) {
      const float half = to_float(F16{bits[i]});
      // Without instructions for it Highway makes large numbers of infinities.
      if (std::isfinite(half)) {
        ASSERT_EQ(f16[i], half) << i;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(bf16[i]), uint32_t{bits[i]} << 16);
    }
  });
}

TEST(Unpack, PlainNumbersAreWidenedExactly) {
  for (const int64_t count : {1, 15, 16, 33, 100}) {
    const Tensor numbers = random_tensor({count}, static_cast<uint64_t>(count));
    for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
      SCOPED_TRACE(dtype_name(type));
      const Tensor stored = convert(numbers, type);
      const std::vector<double> wanted = to_doubles(convert(stored, DType::kF32));
      for_each_simd_target([&] {
        Tensor found = Tensor::uninitialized({count});
        unpack(stored_format_of(type), stored.raw(), count, found.mutable_values<float>().data());
        EXPECT_TRUE(all_close(found, wanted, 0));
      });
    }
  }
}

TEST(Unpack, AScaleThatIsNoFiniteNumberIsFoundWhereverItIs) {
  for (const StoredFormat format : block_formats()) {
    const StoredBlock& block = stored_block(format);
    SCOPED_TRACE(block.name);
    for (int64_t s = 0; s < block.scales; ++s) {
      for (const int high : {0x7C, 0xFC, 0x7E}) {
        std::vector<uint8_t> bytes = random_blocks(format, 3);
        bytes[static_cast<size_t>(2 * block.bytes + block.scales_at + 2 * s + 1)] =
            static_cast<uint8_t>(high);
        EXPECT_TRUE(has_finite_scales(format, as_stored(bytes), 2 * block.elements));
        EXPECT_FALSE(has_finite_scales(format, as_stored(bytes), 3 * block.elements));
      }
    }
  }
}

TEST(Unpack, AnExponentThatIsNoNumberIsFound) {
  std::vector<uint8_t> bytes = random_blocks(StoredFormat::kMXFP4, 3);
  EXPECT_TRUE(has_finite_scales(StoredFormat::kMXFP4, as_stored(bytes), 96));
  bytes[2 * 17] = 255;
  EXPECT_TRUE(has_finite_scales(StoredFormat::kMXFP4, as_stored(bytes), 64));
  EXPECT_FALSE(has_finite_scales(StoredFormat::kMXFP4, as_stored(bytes), 96));
}

}  // namespace
}  // namespace fovea
