#include "fovea/atlas/tile_code.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/io/crc32.h"

namespace fovea {
namespace {

constexpr std::string_view kMagic = "FOVT";
constexpr uint8_t kTileVersion = 1;
constexpr float kOctaves = 32;
constexpr uint8_t kApproximateBit = 1, kCausalBit = 2, kMaxBit = 4, kMeanBit = 8;
constexpr uint32_t kNotComputedBits = 0x7fc00001;

// How many bits a code has and which of them mean no number. Codes 1 to last() are steps of the
// logarithm.
struct LogCode {
  uint32_t masked;
  uint32_t not_computed;
  uint32_t sign;  // this bit is the sign; 0: none

  uint32_t last() const { return masked - 1; }
  double step() const { return double{kOctaves} / (last() - 1); }
};
constexpr LogCode kLog16{.masked = 65534, .not_computed = 65535, .sign = 0};
constexpr LogCode kLog8{.masked = 254, .not_computed = 255, .sign = 0};
constexpr LogCode kSigned16{.masked = 0x7ffe, .not_computed = 0x7fff, .sign = 0x8000};

const LogCode& log_code_of(TileEncoding encoding) {
  return encoding == TileEncoding::kL8    ? kLog8
         : encoding == TileEncoding::kS16 ? kSigned16
                                          : kLog16;
}

size_t cell_bytes(TileEncoding encoding) {
  return encoding == TileEncoding::kL8 ? 1 : encoding == TileEncoding::kF32 ? 4 : 2;
}

// Below the smallest step there is 0.
uint32_t code_of(const LogCode& code, float cell, int top) {
  if (is_not_computed(cell)) return code.not_computed;
  if (!std::isfinite(cell)) return code.masked;
  const uint32_t sign = cell < 0 ? code.sign : 0;
  const double octave = std::log2(std::abs(double{cell})) - top + double{kOctaves};
  if (!(octave >= 0)) return 0;
  const auto place = static_cast<uint32_t>(std::lround(octave / code.step()));
  return sign | std::min(place + 1, code.last());
}

float value_of(const LogCode& code, uint32_t bits, int top) {
  const bool negative = (bits & code.sign) != 0;
  const uint32_t place = bits & ~code.sign;
  if (place == 0) return 0;
  if (place == code.masked) return std::numeric_limits<float>::quiet_NaN();
  if (place == code.not_computed) return not_computed();
  const double value = std::exp2(top - double{kOctaves} + (place - 1) * code.step());
  return static_cast<float>(negative ? -value : value);
}

template <typename Number>
void put(std::string& bytes, size_t place, Number number) {
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(bytes.data() + place, &number, sizeof(number));
}

template <typename Number>
Number get(Bytes bytes, size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

void check_cells(TileEncoding encoding, MatrixView<const float> cells) {
  constexpr int64_t kMost = std::numeric_limits<uint16_t>::max();
  if (cells.rows > kMost || cells.cols > kMost) {
    fail(ErrorKind::kInvalidArgument, "a tile of {} x {} cells cannot be; one has {} at most",
         cells.rows, cells.cols, kMost);
  }
  if (encoding == TileEncoding::kS16 || encoding == TileEncoding::kF32) return;
  for (int64_t r = 0; r < cells.rows; ++r) {
    for (int64_t c = 0; c < cells.cols; ++c) {
      // The mask's cells may be -infinity, as scores are.
      if (!(cells(r, c) < 0) || std::isinf(cells(r, c))) continue;
      fail(ErrorKind::kInvalidArgument, Field{"enc"},
           "{} has no sign but there are values below 0, {:.4g} for one; take S16 or F32",
           tile_encoding_names()[static_cast<size_t>(encoding)], cells(r, c));
    }
  }
}

float largest_of(MatrixView<const float> cells) {
  float largest = 0;
  for (int64_t r = 0; r < cells.rows; ++r) {
    for (int64_t c = 0; c < cells.cols; ++c) {
      if (std::isfinite(cells(r, c))) largest = std::max(largest, std::abs(cells(r, c)));
    }
  }
  return largest;
}

// Neighbours are often equal, above all 0 and what the mask forbids.
template <typename Code>
void put_codes(const LogCode& code, MatrixView<const float> cells, int top, std::string& bytes) {
  size_t place = kTileHeaderBytes;
  float last_cell = 0;
  Code last_code = 0;
  for (int64_t r = 0; r < cells.rows; ++r) {
    for (int64_t c = 0; c < cells.cols; ++c, place += sizeof(Code)) {
      const float cell = cells(r, c);
      if (std::bit_cast<uint32_t>(cell) != std::bit_cast<uint32_t>(last_cell)) {
        last_cell = cell;
        last_code = static_cast<Code>(code_of(code, cell, top));
      }
      put(bytes, place, last_code);
    }
  }
}

void put_numbers(MatrixView<const float> cells, std::string& bytes) {
  size_t place = kTileHeaderBytes;
  for (int64_t r = 0; r < cells.rows; ++r) {
    for (int64_t c = 0; c < cells.cols; ++c, place += sizeof(float)) {
      const float cell = cells(r, c);
      const bool masked = !std::isfinite(cell) && !is_not_computed(cell);
      put(bytes, place, masked ? std::numeric_limits<float>::quiet_NaN() : cell);
    }
  }
}

uint8_t flags_of(const TileHeader& header) {
  return static_cast<uint8_t>((header.approximate ? kApproximateBit : 0) |
                              (header.causal ? kCausalBit : 0) |
                              (header.pool == TilePool::kMax    ? kMaxBit
                               : header.pool == TilePool::kMean ? kMeanBit
                                                                : 0));
}

TileHeader header_of(Bytes bytes) {
  if (bytes.size() < kTileHeaderBytes || as_text(bytes.first(kMagic.size())) != kMagic) {
    fail(ErrorKind::kBadFile, "these {} bytes are no tile", bytes.size());
  }
  const auto version = get<uint8_t>(bytes, 4), encoding = get<uint8_t>(bytes, 5);
  if (version != kTileVersion || encoding > static_cast<uint8_t>(TileEncoding::kF32)) {
    fail(ErrorKind::kBadFile, "a tile of version {} in encoding {} is not known", version,
         encoding);
  }
  const auto flags = get<uint8_t>(bytes, 7);
  return {.encoding = static_cast<TileEncoding>(encoding),
          .level = get<uint8_t>(bytes, 6),
          .approximate = (flags & kApproximateBit) != 0,
          .causal = (flags & kCausalBit) != 0,
          .pool = (flags & kMaxBit) != 0    ? TilePool::kMax
                  : (flags & kMeanBit) != 0 ? TilePool::kMean
                                            : TilePool::kNone,
          .row = get<uint32_t>(bytes, 8),
          .col = get<uint32_t>(bytes, 12),
          .rows = get<uint16_t>(bytes, 16),
          .cols = get<uint16_t>(bytes, 18),
          .octaves = get<float>(bytes, 20),
          .largest = get<float>(bytes, 24)};
}

}  // namespace

std::span<const std::string_view> tile_encoding_names() {
  static constexpr std::string_view kNames[] = {"L16", "L8", "S16", "F32"};
  return kNames;
}

TileEncoding tile_encoding_named(std::string_view name) {
  const auto names = tile_encoding_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    fail(ErrorKind::kInvalidArgument, Field{"enc"}, "'{}' is not one of {}", name,
         fmt::join(names, ", "));
  }
  return static_cast<TileEncoding>(found - names.begin());
}

float not_computed() {
  return std::bit_cast<float>(kNotComputedBits);
}

bool is_not_computed(float cell) {
  return std::bit_cast<uint32_t>(cell) == kNotComputedBits;
}

int top_exponent(float largest) {
  if (!(largest > 1)) return 0;
  int exponent = 0;
  const float fraction = std::frexp(largest, &exponent);  // in [0.5, 1)
  return fraction == 0.5F ? exponent - 1 : exponent;
}

std::string encode_tile(TileHeader header, MatrixView<const float> cells) {
  check_cells(header.encoding, cells);
  header.largest = largest_of(cells);
  const int top = top_exponent(header.largest);
  const size_t payload = static_cast<size_t>(cells.rows * cells.cols) * cell_bytes(header.encoding);
  std::string bytes(kTileHeaderBytes + payload, '\0');
  if (header.encoding == TileEncoding::kF32) {
    put_numbers(cells, bytes);
  } else if (header.encoding == TileEncoding::kL8) {
    put_codes<uint8_t>(kLog8, cells, top, bytes);
  } else {
    put_codes<uint16_t>(log_code_of(header.encoding), cells, top, bytes);
  }
  bytes.replace(0, kMagic.size(), kMagic);
  put(bytes, 4, kTileVersion);
  put(bytes, 5, static_cast<uint8_t>(header.encoding));
  put(bytes, 6, static_cast<uint8_t>(header.level));
  put(bytes, 7, flags_of(header));
  put(bytes, 8, static_cast<uint32_t>(header.row));
  put(bytes, 12, static_cast<uint32_t>(header.col));
  put(bytes, 16, static_cast<uint16_t>(cells.rows));
  put(bytes, 18, static_cast<uint16_t>(cells.cols));
  put(bytes, 20, kOctaves);
  put(bytes, 24, header.largest);
  put(bytes, 28, crc32_of(as_bytes(bytes).subspan(kTileHeaderBytes)));
  return bytes;
}

DecodedTile decode_tile(Bytes bytes) {
  DecodedTile tile{header_of(bytes), {}};
  const TileHeader& header = tile.header;
  const Bytes payload = bytes.subspan(kTileHeaderBytes);
  const size_t size = cell_bytes(header.encoding);
  if (payload.size() != static_cast<size_t>(header.rows * header.cols) * size) {
    fail(ErrorKind::kBadFile, "a tile of {} x {} cells has {} bytes of them", header.rows,
         header.cols, payload.size());
  }
  if (header.octaves != kOctaves) {
    fail(ErrorKind::kBadFile, "a tile of {} octaves is not known", header.octaves);
  }
  const auto checksum = get<uint32_t>(bytes, 28);
  if (crc32_of(payload) != checksum) {
    fail(ErrorKind::kBadFile, "the tile's checksum is {:08x} but should be {:08x}",
         crc32_of(payload), checksum);
  }
  const LogCode& code = log_code_of(header.encoding);
  const int top = top_exponent(header.largest);
  tile.cells = Tensor::uninitialized({header.rows, header.cols});
  size_t place = 0;
  for (float& cell : tile.cells.mutable_values<float>()) {
    cell = size == 4   ? get<float>(payload, place)
           : size == 1 ? value_of(code, get<uint8_t>(payload, place), top)
                       : value_of(code, get<uint16_t>(payload, place), top);
    place += size;
  }
  return tile;
}

}  // namespace fovea
