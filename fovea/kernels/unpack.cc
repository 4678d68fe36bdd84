#include "fovea/kernels/unpack.h"

#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "fovea/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/unpack.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                       // IWYU pragma: keep
#include "hwy/highway.h"
// After foreach_target.h.
#include "fovea/kernels/vector-inl.h"

#ifndef FOVEA_KERNELS_UNPACK_ONCE_
#define FOVEA_KERNELS_UNPACK_ONCE_
namespace fovea {

// Blocks of a row whose offsets are multiplied together.
inline constexpr int64_t kBlockRun = 64;

// Rows of blocks, what each is multiplied with, and where the products go.
struct RowsOfBlocks {
  StoredBlock block;
  std::span<const std::byte* const> rows;
  const float* x;
  const float* sums;  // of x, group by group, and zeros up to whole vectors
  int64_t count;      // numbers of a row
  float* products;
};

}  // namespace fovea
#endif  // FOVEA_KERNELS_UNPACK_ONCE_

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace {

// A block's numbers are q * scale + offset, where `kGroup` neighbours share scale and offset.
template <int kElements, int kGroup>
struct Parts {
  static constexpr int kNumbers = kElements;
  static constexpr int kShared = kGroup;
  alignas(64) int8_t q[kElements];
  float scale[kElements / kGroup];
  float offset[kElements / kGroup];
};

// Below, one struct for each format: `read` gives the parts of the block at `b`, whose f16 numbers
// are `halves` (of four the first one or two). `kOffset` says whether there are offsets.
using SmallParts = Parts<32, 32>;

// The low and the high halves of kCount bytes, less kBias.
template <int kCount, int kBias = 0>
HWY_INLINE void split_nibbles(const uint8_t* from, int8_t* low, int8_t* high) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < kCount; ++i) {
    low[i] = static_cast<int8_t>((from[i] & 15) - kBias);
    high[i] = static_cast<int8_t>((from[i] >> 4) - kBias);
  }
#else
  const hn::CappedTag<uint8_t, kCount> du;
  const hn::RepartitionToWide<decltype(du)> dw;
  const hn::RebindToSigned<decltype(du)> d;
  const auto mask = hn::Set(du, 15);
  const auto bias = hn::Set(d, kBias);
  for (int i = 0; i < kCount; i += static_cast<int>(hn::Lanes(du))) {
    const auto bytes = hn::LoadU(du, from + i);
    // The bits that come from the neighbouring byte are cut off.
    const auto shifted = hn::BitCast(du, hn::ShiftRight<4>(hn::BitCast(dw, bytes)));
    hn::StoreU(hn::Sub(hn::BitCast(d, hn::And(bytes, mask)), bias), d, low + i);
    hn::StoreU(hn::Sub(hn::BitCast(d, hn::And(shifted, mask)), bias), d, high + i);
  }
#endif
}

// Adds a fifth bit to 32 numbers and takes kBias away.
template <int kBias>
HWY_INLINE void add_fifth_bits(const uint8_t* bits, int8_t* q) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 32; ++i) {
    q[i] = static_cast<int8_t>((q[i] | (bits[i / 8] >> i % 8 & 1) << 4) - kBias);
  }
#else
  alignas(16) static constexpr uint8_t kByte[32] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                                    2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
  alignas(16) static constexpr uint8_t kBit[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                   1, 2, 4, 8, 16, 32, 64, 128};
  const hn::FixedTag<uint8_t, 16> du;
  const hn::FixedTag<int8_t, 16> d;
  uint32_t all;
  std::memcpy(&all, bits, sizeof(all));
  const auto bytes = hn::BitCast(du, hn::Set(hn::FixedTag<uint32_t, 4>(), all));
  const auto bit = hn::Load(du, kBit);
  for (int i = 0; i < 32; i += 16) {
    const auto found = hn::And(hn::TableLookupBytes(bytes, hn::Load(du, kByte + i)), bit);
    const auto fifth = hn::IfThenElseZero(hn::Eq(found, bit), hn::Set(du, 16));
    const auto five = hn::Or(hn::LoadU(d, q + i), hn::BitCast(d, fifth));
    hn::StoreU(hn::Sub(five, hn::Set(d, kBias)), d, q + i);
  }
#endif
}

// to[i] = from[i] factor for kCount numbers.
template <int kCount>
HWY_INLINE void scale_all(const int8_t* from, float factor, float* to) {
  const hn::CappedTag<float, kCount> d;
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<int8_t, decltype(d)> db;
  for (int i = 0; i < kCount; i += static_cast<int>(hn::Lanes(d))) {
    const auto numbers = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, from + i)));
    hn::StoreU(hn::Mul(numbers, hn::Set(d, factor)), d, to + i);
  }
}

struct Q8_0 : SmallParts {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    std::memcpy(q, b + 2, 32);
    scale[0] = halves[0];
  }
};

struct Q4_0 : SmallParts {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    split_nibbles<16, 8>(b + 2, q, q + 16);
    scale[0] = halves[0];
  }
};

struct Q4_1 : SmallParts {
  static constexpr bool kOffset = true;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    split_nibbles<16>(b + 4, q, q + 16);
    scale[0] = halves[0];
    offset[0] = halves[1];
  }
};

struct Q5_0 : SmallParts {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    split_nibbles<16>(b + 6, q, q + 16);
    add_fifth_bits<16>(b + 2, q);
    scale[0] = halves[0];
  }
};

struct Q5_1 : SmallParts {
  static constexpr bool kOffset = true;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    split_nibbles<16>(b + 8, q, q + 16);
    add_fifth_bits<0>(b + 4, q);
    scale[0] = halves[0];
    offset[0] = halves[1];
  }
};

// Sixteen values that four bits choose from: more of them around zero.
alignas(16) constexpr int8_t kChosen[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};

// Four-bit floating point: twice what the numbers are.
alignas(16) constexpr int8_t kFourBitFloats[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                   0, -1, -2, -3, -4, -6, -8, -12};

HWY_INLINE void choose(const uint8_t* from, int8_t* q, const int8_t* table = kChosen) {
#if HWY_TARGET == HWY_SCALAR
  split_nibbles<16>(from, q, q + 16);
  for (int i = 0; i < 32; ++i) q[i] = table[q[i]];
#else
  const hn::FixedTag<int8_t, 16> d;
  split_nibbles<16>(from, q, q + 16);
  const auto values = hn::Load(d, table);
  hn::StoreU(hn::TableLookupBytes(values, hn::LoadU(d, q)), d, q);
  hn::StoreU(hn::TableLookupBytes(values, hn::LoadU(d, q + 16)), d, q + 16);
#endif
}

struct IQ4_NL : SmallParts {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    choose(b + 2, q);
    scale[0] = halves[0];
  }
};

// d, scales of 6 bits: 4 low ones in 4 bytes, 2 high ones in 2; 8 groups of 32.
struct IQ4_XS : Parts<256, 32> {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    uint16_t high;
    std::memcpy(&high, b + 2, sizeof(high));
    for (int g = 0; g < 8; ++g) {
      const int bits = (b[4 + g / 2] >> 4 * (g % 2) & 15) | (high >> 2 * g & 3) << 4;
      scale[g] = halves[0] * static_cast<float>(bits - 32);
      choose(b + 8 + 16 * g, q + 32 * g);
    }
  }
};

// One byte of scale, the exponent of a power of two; half of it, because the numbers are doubled.
struct MXFP4 : SmallParts {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float*) {
    choose(b + 1, q, kFourBitFloats);
    constexpr uint32_t kSmallest = 0x00200000;  // 2^-128, which is below normal numbers
    const uint32_t bits = b[0] < 2 ? kSmallest << b[0] : (uint32_t{b[0]} - 1) << 23;
    std::memcpy(scale, &bits, sizeof(bits));
  }
};

// 16 bytes of scales (low 4 bits) and minima (high), 64 of 2-bit numbers.
struct Q2_K : Parts<256, 16> {
  static constexpr bool kOffset = true;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    int8_t bits_of_scales[16], bits_of_minima[16];
    split_nibbles<16>(b, bits_of_scales, bits_of_minima);
    scale_all<16>(bits_of_scales, halves[0], scale);
    scale_all<16>(bits_of_minima, -halves[1], offset);
    for (int part = 0; part < 2; ++part) {
      const uint8_t* bits = b + 16 + 32 * part;
      int8_t* to = q + 128 * part;
      for (int i = 0; i < 32; ++i) {
        to[i] = static_cast<int8_t>(bits[i] & 3);
        to[i + 32] = static_cast<int8_t>(bits[i] >> 2 & 3);
        to[i + 64] = static_cast<int8_t>(bits[i] >> 4 & 3);
        to[i + 96] = static_cast<int8_t>(bits[i] >> 6);
      }
    }
  }
};

// 32 bytes of third bits, 64 of low two, 12 of scales of 6 bits.
struct Q3_K : Parts<256, 16> {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    const uint8_t* s = b + 96;
    int8_t scales[16];
    for (int g = 0; g < 16; ++g) {
      const int low = g < 8 ? s[g] & 15 : s[g - 8] >> 4;
      const int high = s[8 + g % 4] >> 2 * (g / 4) & 3;
      scales[g] = static_cast<int8_t>((low | high << 4) - 32);
    }
    scale_all<16>(scales, halves[0], scale);
    for (int part = 0; part < 2; ++part) {
      const uint8_t* bits = b + 32 + 32 * part;
      for (int k = 0; k < 4; ++k) {
        int8_t* to = q + 128 * part + 32 * k;
        for (int i = 0; i < 32; ++i) {
          const int third = (b[i] >> (4 * part + k) & 1) << 2;
          to[i] = static_cast<int8_t>((bits[i] >> 2 * k & 3) + third - 4);
        }
      }
    }
  }
};

// Eight scales and minima of 6 bits in 12 bytes, four of either at a time.
HWY_INLINE void read_six_bit_scales(const uint8_t* s, const float* halves, float* scale,
                                    float* offset) {
  constexpr uint32_t kSix = 0x3F3F3F3F, kLow = 0x0F0F0F0F, kHigh = 0x30303030;
  uint32_t bits[3];
  std::memcpy(bits, s, sizeof(bits));
  const uint32_t scales[2] = {bits[0] & kSix, (bits[2] & kLow) | (bits[0] >> 2 & kHigh)};
  const uint32_t minima[2] = {bits[1] & kSix, (bits[2] >> 4 & kLow) | (bits[1] >> 2 & kHigh)};
  int8_t bytes[16];
  std::memcpy(bytes, scales, sizeof(scales));
  std::memcpy(bytes + 8, minima, sizeof(minima));
  scale_all<8>(bytes, halves[0], scale);
  scale_all<8>(bytes + 8, -halves[1], offset);
}

struct Q4_K : Parts<256, 32> {
  static constexpr bool kOffset = true;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    read_six_bit_scales(b + 4, halves, scale, offset);
    for (int part = 0; part < 4; ++part) {
      const uint8_t* bits = b + 16 + 32 * part;
      int8_t* to = q + 64 * part;
      split_nibbles<32>(bits, to, to + 32);
    }
  }
};

struct Q5_K : Parts<256, 32> {
  static constexpr bool kOffset = true;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    read_six_bit_scales(b + 4, halves, scale, offset);
    const uint8_t* fifth = b + 16;
    for (int part = 0; part < 4; ++part) {
      const uint8_t* bits = b + 48 + 32 * part;
      int8_t* to = q + 64 * part;
      for (int i = 0; i < 32; ++i) {
        to[i] = static_cast<int8_t>((bits[i] & 15) | (fifth[i] >> 2 * part & 1) << 4);
        to[i + 32] = static_cast<int8_t>(bits[i] >> 4 | (fifth[i] >> (2 * part + 1) & 1) << 4);
      }
    }
  }
};

// 128 bytes of low four bits, 64 of high two, 16 scales of 8 bits.
struct Q6_K : Parts<256, 16> {
  static constexpr bool kOffset = false;
  HWY_INLINE void read(const uint8_t* b, const float* halves) {
    scale_all<16>(reinterpret_cast<const int8_t*>(b + 192), halves[0], scale);
    for (int part = 0; part < 2; ++part) {
      const uint8_t* low = b + 64 * part;
      const uint8_t* high = b + 128 + 32 * part;
      int8_t* to = q + 128 * part;
      for (int i = 0; i < 32; ++i) {
        to[i] = static_cast<int8_t>(((low[i] & 15) | (high[i] & 3) << 4) - 32);
        to[i + 32] = static_cast<int8_t>(((low[i + 32] & 15) | (high[i] >> 2 & 3) << 4) - 32);
        to[i + 64] = static_cast<int8_t>((low[i] >> 4 | (high[i] >> 4 & 3) << 4) - 32);
        to[i + 96] = static_cast<int8_t>((low[i + 32] >> 4 | high[i] >> 6 << 4) - 32);
      }
    }
  }
};

HWY_INLINE void widen_halves(const uint16_t* from, int64_t count, float* to) {
  const FloatTag d;
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  const hn::Rebind<uint16_t, FloatTag> du;
  const auto widen = [&](const uint16_t* at)
                         HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(dh, hn::LoadU(du, at))); };
  int64_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) hn::StoreU(widen(from + i), d, to + i);
  if (i < count) {
    HWY_ALIGN uint16_t buffer[kFloatLanes] = {};
    std::memcpy(buffer, from + i, static_cast<size_t>(count - i) * sizeof(uint16_t));
    store_part(widen(buffer), to + i, count - i);
  }
}

// The one or two f16 numbers of a block.
template <size_t kBytes>
HWY_INLINE void read_scales(const uint8_t* from, float* to) {
#if HWY_TARGET == HWY_SCALAR
  uint16_t halves[2] = {};
  std::memcpy(halves, from, kBytes);
  for (int i = 0; i < 2; ++i) to[i] = to_float(F16{halves[i]});
#else
  uint32_t halves = 0;
  std::memcpy(&halves, from, kBytes);
  const hn::FixedTag<float, 4> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const hn::Rebind<uint16_t, decltype(d)> du;
  const hn::FixedTag<uint32_t, 2> dw;
  hn::Store(hn::PromoteTo(d, hn::BitCast(dh, hn::BitCast(du, hn::Set(dw, halves)))), d, to);
#endif
}

// This file is compiled so that products and sums are not fused (CMakeLists.txt).
template <class Format>
HWY_INLINE void write_numbers(const Format& parts, float* to) {
  const FloatTag d;
  const hn::Rebind<int32_t, FloatTag> di;
  const hn::Rebind<int8_t, FloatTag> db;
  HWY_UNROLL(16)
  for (int g = 0; g < Format::kNumbers / Format::kShared; ++g) {
    const FloatVector scale = hn::Set(d, parts.scale[g]);
    const FloatVector offset = hn::Set(d, Format::kOffset ? parts.offset[g] : 0.0F);
    for (int i = g * Format::kShared; i < (g + 1) * Format::kShared;
         i += static_cast<int>(kFloatLanes)) {
      const FloatVector q = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, parts.q + i)));
      const FloatVector product = hn::Mul(q, scale);
      hn::StoreU(Format::kOffset ? hn::Add(product, offset) : product, d, to + i);
    }
  }
}

template <class Format>
inline constexpr size_t kScaleBytes = (Format::kOffset ? 2 : 1) * sizeof(uint16_t);

template <class Format>
void unpack_blocks(const StoredBlock& block, const uint8_t* from, int64_t count, float* to) {
  const int64_t bytes = block.bytes, scales_at = block.scales_at;
  HWY_ALIGN float scales[4];
  for (int64_t i = 0; i < count; i += Format::kNumbers, from += bytes) {
    Format parts;
    read_scales<kScaleBytes<Format>>(from + scales_at, scales);
    parts.read(from, scales);
    write_numbers(parts, to + i);
  }
}

void widen_bf16(const uint16_t* from, int64_t count, float* to) {
  const FloatTag d;
  const hn::Rebind<uint32_t, FloatTag> du;
  const hn::Rebind<uint16_t, FloatTag> dh;
  int64_t i = 0;
  for (; i + kFloatLanes <= count; i += kFloatLanes) {
    const auto bits = hn::PromoteTo(du, hn::LoadU(dh, from + i));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(bits)), d, to + i);
  }
  for (; i < count; ++i) {
    BF16 number;
    std::memcpy(&number, from + i, sizeof(number));
    to[i] = to_float(number);
  }
}

// The sum of x q scale + x offset: group by group the sum of x q times the scale, and the offset
// times the sum of x.
template <class Format>
HWY_INLINE float dot_row(const RowsOfBlocks& all, const uint8_t* from, float* offsets) {
  constexpr int kGroups = Format::kNumbers / Format::kShared;
  const FloatTag d;
  const hn::Rebind<int32_t, FloatTag> di;
  const hn::Rebind<int8_t, FloatTag> db;
  const int64_t bytes = all.block.bytes, scales_at = all.block.scales_at;
  const float *x = all.x, *sums = all.sums;
  HWY_ALIGN float scales[4];
  FloatVector total0 = hn::Zero(d), total1 = total0;
  for (int64_t blocks = all.count / Format::kNumbers; blocks > 0; blocks -= kBlockRun) {
    const int64_t run = HWY_MIN(kBlockRun, blocks);
    for (int64_t i = 0; i < run; ++i, from += bytes, x += Format::kNumbers) {
      Format parts;
      read_scales<kScaleBytes<Format>>(from + scales_at, scales);
      parts.read(from, scales);
      HWY_UNROLL(16)
      for (int g = 0; g < kGroups; ++g) {
        FloatVector sum = hn::Zero(d);
        for (int k = g * Format::kShared; k < (g + 1) * Format::kShared;
             k += static_cast<int>(kFloatLanes)) {
          const FloatVector q = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(db, parts.q + k)));
          sum = hn::MulAdd(q, hn::LoadU(d, x + k), sum);
        }
        total0 = hn::MulAdd(sum, hn::Set(d, parts.scale[g]), total0);
        std::swap(total0, total1);
        if constexpr (Format::kOffset) offsets[i * kGroups + g] = parts.offset[g];
      }
    }
    if (!Format::kOffset) continue;
    // Beyond the last group the sums are zeros, and what is left of other rows does not count.
    for (int64_t g = 0; g < run * kGroups; g += kFloatLanes) {
      total0 = hn::MulAdd(hn::Load(d, offsets + g), hn::LoadU(d, sums + g), total0);
    }
    sums += run * kGroups;
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(total0, total1)));
}

template <class Format>
void dot_rows(const RowsOfBlocks& all) {
  HWY_ALIGN float offsets[kBlockRun * (Format::kNumbers / Format::kShared)] = {};
  for (size_t r = 0; r < all.rows.size(); ++r) {
    all.products[r] = dot_row<Format>(all, reinterpret_cast<const uint8_t*>(all.rows[r]), offsets);
  }
}

// Calls f with a null pointer to the struct of the format.
template <class F>
HWY_INLINE auto with_format(StoredFormat format, const F& f) {
  switch (format) {
    case StoredFormat::kQ4_0:
      return f(static_cast<Q4_0*>(nullptr));
    case StoredFormat::kQ4_1:
      return f(static_cast<Q4_1*>(nullptr));
    case StoredFormat::kQ5_0:
      return f(static_cast<Q5_0*>(nullptr));
    case StoredFormat::kQ5_1:
      return f(static_cast<Q5_1*>(nullptr));
    case StoredFormat::kQ2K:
      return f(static_cast<Q2_K*>(nullptr));
    case StoredFormat::kQ3K:
      return f(static_cast<Q3_K*>(nullptr));
    case StoredFormat::kQ4K:
      return f(static_cast<Q4_K*>(nullptr));
    case StoredFormat::kQ5K:
      return f(static_cast<Q5_K*>(nullptr));
    case StoredFormat::kQ6K:
      return f(static_cast<Q6_K*>(nullptr));
    case StoredFormat::kIQ4NL:
      return f(static_cast<IQ4_NL*>(nullptr));
    case StoredFormat::kIQ4XS:
      return f(static_cast<IQ4_XS*>(nullptr));
    case StoredFormat::kMXFP4:
      return f(static_cast<MXFP4*>(nullptr));
    default:
      return f(static_cast<Q8_0*>(nullptr));
  }
}

void dot_numbers(StoredFormat format, const RowsOfBlocks& rows) {
  with_format(format, [&](auto* found)
                          HWY_ATTR { dot_rows<std::remove_pointer_t<decltype(found)>>(rows); });
}

int64_t group_size(StoredFormat format) {
  return with_format(
      format, [](auto* found) { return int64_t{std::remove_pointer_t<decltype(found)>::kShared}; });
}

void unpack_numbers(StoredFormat format, const uint8_t* from, int64_t count, float* to) {
  switch (format) {
    case StoredFormat::kF32:
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
      return;
    case StoredFormat::kF16:
      return widen_halves(reinterpret_cast<const uint16_t*>(from), count, to);
    case StoredFormat::kBF16:
      return widen_bf16(reinterpret_cast<const uint16_t*>(from), count, to);
    default:
      return with_format(format, [&](auto* found) HWY_ATTR {
        unpack_blocks<std::remove_pointer_t<decltype(found)>>(stored_block(format), from, count,
                                                              to);
      });
  }
}

}  // namespace
}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {
namespace {

HWY_EXPORT(unpack_numbers);
HWY_EXPORT(dot_numbers);
HWY_EXPORT(group_size);

}  // namespace

void unpack(StoredFormat format, const std::byte* from, int64_t count, float* to) {
  FOVEA_ASSERT(count % stored_block(format).elements == 0);
  HWY_DYNAMIC_DISPATCH(unpack_numbers)
  (format, reinterpret_cast<const uint8_t*>(from), count, to);
}

BlockDot::BlockDot(StoredFormat format, std::span<const float> x) : format_(format), x_(x) {
  const auto group = static_cast<size_t>(HWY_DYNAMIC_DISPATCH(group_size)(format));
  for (size_t first = 0; first < x.size(); first += group) {
    double sum = 0;
    for (const float value : x.subspan(first, group)) sum += double{value};
    sums_.push_back(static_cast<float>(sum));
  }
  constexpr size_t kMostLanes = 16;
  sums_.resize((sums_.size() + kMostLanes - 1) / kMostLanes * kMostLanes);  // zeros
}

void BlockDot::operator()(std::span<const std::byte* const> rows, float* products) const {
  HWY_DYNAMIC_DISPATCH(dot_numbers)
  (format_, {.block = stored_block(format_),
             .rows = rows,
             .x = x_.data(),
             .sums = sums_.data(),
             .count = static_cast<int64_t>(x_.size()),
             .products = products});
}

bool has_finite_scales(StoredFormat format, const std::byte* from, int64_t count) {
  constexpr uint16_t kExponent = 0x7C00;
  const StoredBlock& block = stored_block(format);
  if (format == StoredFormat::kMXFP4) {
    constexpr auto kNoNumber = std::byte{255};
    for (int64_t i = 0; i < count / block.elements; ++i) {
      if (from[i * block.bytes] == kNoNumber) return false;
    }
    return true;
  }
  const std::byte* scales = from + block.scales_at;
  for (int64_t i = 0; i < count / block.elements * block.scales; ++i) {
    uint16_t bits;
    std::memcpy(&bits, scales + i / block.scales * block.bytes + i % block.scales * 2,
                sizeof(bits));
    if ((bits & kExponent) == kExponent) return false;
  }
  return true;
}

}  // namespace fovea
#endif  // HWY_ONCE
