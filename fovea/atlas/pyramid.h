// A map at every zoom. A cell of level k holds the maximum and the sum over 2^k x 2^k cells; both
// compose exactly from one level to the next. Tiles of 256 x 256 cells are computed when they
// are asked for and kept in a cache.
#pragma once

#include <memory>

#include "fovea/atlas/cell_source.h"
#include "fovea/atlas/tile_cache.h"

namespace fovea {

// All members may be called from any thread.
class Pyramid {
 public:
  static constexpr int64_t kTileSide = 256;
  // Up to this level, tiles come straight from Q and K; above it, from four tiles of the level
  // below.
  static constexpr int kDirectLevel = 6;
  // The kernels compute rows in groups of this size, so a first look wastes nothing.
  static constexpr int64_t kFirstLookRows = 12;

  Pyramid(std::shared_ptr<const CellSource> source, std::shared_ptr<TileCache> cache);
  // Of the weights of one head.
  Pyramid(const AttentionMap& map, std::shared_ptr<TileCache> cache);

  const CellSource& source() const { return *source_; }
  uint64_t id() const { return id_; }
  // Level 0 has one cell per weight; the last level fits into one tile.
  int levels() const { return levels_; }
  int64_t tile_rows(int level) const;
  int64_t tile_cols(int level) const;
  // The weights that a tile covers. Throws Error{kInvalidArgument} if there is no such tile.
  Region region(int level, int64_t y, int64_t x) const;

  std::shared_ptr<const PyramidTile> tile(int level, int64_t y, int64_t x) const;
  // The tile if it is in the cache, else null; computes nothing.
  std::shared_ptr<const PyramidTile> find_tile(int level, int64_t y, int64_t x) const;
  // A first look at the tile, from `rows` rows of each cell row (CellSource::sampled). It is not
  // kept. At the top of a map of 100,000 tokens it costs some 2 % of the tile itself.
  PyramidTile first_look(int level, int64_t y, int64_t x, int64_t rows = kFirstLookRows) const;
  // The tile's mean: sum / allowed cells.
  Tensor mean(int level, int64_t y, int64_t x) const;

 private:
  PyramidTile compute(int level, int64_t y, int64_t x) const;

  std::shared_ptr<const CellSource> source_;
  std::shared_ptr<TileCache> cache_;
  uint64_t id_;
  int levels_;
};

}  // namespace fovea
