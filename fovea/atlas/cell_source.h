// Numbers for every pair of positions, of which tiles are made: the weights of one head, several
// heads put together, another value, or what two maps differ by. Nothing is stored.
#pragma once

#include <cstdint>
#include <memory>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/head_choice.h"
#include "fovea/atlas/map_value.h"
#include "fovea/atlas/tile_cache.h"

namespace fovea {

// All members may be called from any thread. Regions lie within the map.
class CellSource {
 public:
  virtual ~CellSource() = default;

  // The record that says what the mask allows, and how large the map is.
  virtual const AttentionRecord& record() const = 0;
  // f32; what the mask forbids holds any number.
  virtual Tensor cells(Region region) const = 0;
  // Over blocks of bin x bin cells from the region's corner: the sum of the allowed cells, and the
  // largest of them. Where none is allowed they are 0 and lowest().
  virtual PyramidTile pooled(Region region, int64_t bin) const;
  // The same from about `rows` rows of each row of blocks; sums are estimates.
  virtual PyramidTile sampled(Region region, int64_t bin, int64_t rows) const;
  // What a cell of `max` becomes beside another.
  float stronger(float a, float b) const;
  // Whether `max` is the cell with the largest absolute value.
  virtual bool by_magnitude() const { return false; }
  // No cell is below it.
  virtual float lowest() const { return 0; }

  int64_t rows() const { return record().shape().rows; }
  int64_t cols() const { return record().shape().cols; }
  // How many cells of each block the mask allows, i64.
  Tensor allowed(Region region, int64_t bin) const;
};

// `head` is one map: a head, or the mean, maximum or minimum of all. Throws Error{kInvalidArgument}
// if there is no such head, and Error{kUnsupported} for what was not captured.
std::shared_ptr<const CellSource> cell_source(const std::shared_ptr<const AttentionRecord>& record,
                                              const HeadChoice& head, MapValue value);

std::shared_ptr<const CellSource> cell_source(AttentionMap map);

// a - b, cell by cell; what either forbids counts as forbidden. Throws Error{kInvalidArgument} if
// they differ in size.
std::shared_ptr<const CellSource> difference_of(std::shared_ptr<const CellSource> a,
                                                std::shared_ptr<const CellSource> b);

}  // namespace fovea
