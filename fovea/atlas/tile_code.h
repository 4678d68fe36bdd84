// A tile as bytes, for the page and the notebook: a header of 32 bytes, then the cells row by row,
// all in little-endian order. Weights span many powers of two, so the codes are steps of their
// logarithm: 2^-32 to 1 in steps of 0.03 %. docs/page.md describes the bytes, and
// tests/data/tile_code holds examples that the page's decoder is tested with too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

enum class TileEncoding : uint8_t {
  kL16 = 0,  // 16 bits, no sign
  kL8 = 1,   // 8 bits, no sign: thumbnails
  kS16 = 2,  // a sign and 15 bits: differences and scores
  kF32 = 3,  // the numbers themselves
};
std::span<const std::string_view> tile_encoding_names();  // "L16", "L8", "S16", "F32"
// Throws Error{kInvalidArgument} about the field "enc" that lists the names.
TileEncoding tile_encoding_named(std::string_view name);

// What a cell of a level above 0 says about the cells that it stands for.
enum class TilePool : uint8_t { kNone, kMax, kMean };

struct TileHeader {
  TileEncoding encoding = TileEncoding::kL16;
  int level = 0;
  bool approximate = false;  // from a sample of the rows
  bool causal = false;       // nothing above the diagonal is allowed
  TilePool pool = TilePool::kNone;
  int64_t row = 0;  // the first cell, counted in cells of the map
  int64_t col = 0;
  // Encoding sets these.
  int64_t rows = 0;
  int64_t cols = 0;
  float octaves = 32;  // powers of two that logarithmic codes span
  float largest = 0;   // largest absolute value in the tile
};

inline constexpr size_t kTileHeaderBytes = 32;

// Cells that hold no number are NaN: what the mask forbids is any NaN but this one, which says that
// nobody has computed the cell yet.
float not_computed();
bool is_not_computed(float cell);

// The power of two that logarithmic codes reach up to: the least 2^n, n >= 0, that is not below
// `largest`.
int top_exponent(float largest);

// Throws Error{kInvalidArgument} about the field "enc" for a value below 0 in a code without sign,
// and for a tile of more than 65,535 rows or columns.
std::string encode_tile(TileHeader header, MatrixView<const float> cells);

struct DecodedTile {
  TileHeader header;
  Tensor cells;  // f32 [rows, cols]
};
// Throws Error{kBadFile} for bytes that are no whole tile.
DecodedTile decode_tile(Bytes bytes);

}  // namespace fovea
