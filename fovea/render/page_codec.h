// How a page holds the weights of one head: steps of 1 / levels, cells that the mask forbids left
// out, packed by deflate. web/src/core/codec.ts reads it, docs/html-page.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/file.h"

namespace fovea {

// Codes from here on take three bytes: this one, then the code, low byte first.
inline constexpr int kPageEscape = 255;
// A thumbnail has at most so many blocks a side.
inline constexpr int64_t kThumbnailSide = 32;
// A block of a thumbnail that holds no allowed cell; others are round(65534 * sqrt(share)).
inline constexpr uint16_t kThumbnailForbidden = 65535;

// How many steps there are from 0 to 1 in a map of `cols` columns on a page of `cells` cells. Many
// on small pages; at least 5 per mean weight, which is 3.8 bits per cell at worst, and at least
// 1000, so that every value is within 0.0005.
int64_t page_levels(int64_t cols, int64_t cells);

// Positions per block of a thumbnail along a side of `size` positions.
int64_t thumbnail_block(int64_t size);

struct EncodedMap {
  // Deflate of: one code per allowed cell, row by row; then as f32, rounded to 4 decimals and exact
  // before that, the sum of each row and of each column.
  std::string packed;
  double largest = 0;
  std::vector<uint16_t> thumbnail;  // line by line, shares of blocks: rows by mean, columns by sum
};

EncodedMap encode_map(const AttentionMap& map, int64_t levels);

// How many cells the mask allows.
int64_t allowed_cells(const Mask& mask, int64_t rows, int64_t cols);

std::string to_base64(Bytes bytes);

}  // namespace fovea
