// A cache of computed tiles that holds at most so many bytes and computes each tile once, however
// many threads ask for it at the same time.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Maximum and sum over the blocks of one pyramid tile.
struct PyramidTile {
  Tensor max;  // f32
  Tensor sum;  // f32

  size_t bytes() const { return max.bytes() + sum.bytes(); }
};

struct TileKey {
  uint64_t map = 0;  // Pyramid::id()
  int level = 0;
  int64_t y = 0;
  int64_t x = 0;

  auto operator<=>(const TileKey&) const = default;
};

// All members may be called from any thread.
class TileCache {
 public:
  explicit TileCache(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  using Compute = std::function<PyramidTile()>;
  // The tile from the cache, or from a computation that is under way, or from compute(). If the
  // computation that this call joined was cancelled by its own caller, this call computes anew.
  // What compute() throws is thrown here and nothing is cached.
  std::shared_ptr<const PyramidTile> get(const TileKey& key, const Compute& compute);

  // The tile if it is held; null otherwise.
  std::shared_ptr<const PyramidTile> find_tile(const TileKey& key);

  size_t bytes() const;  // held now; never above the limit
  size_t limit_bytes() const { return limit_bytes_; }

 private:
  using Shared = std::shared_ptr<const PyramidTile>;
  struct Entry {
    Shared tile;
    std::list<TileKey>::iterator recency;
  };
  Shared find(const TileKey& key);  // with the lock held
  void insert(const TileKey& key, const Shared& tile);

  size_t limit_bytes_;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  std::list<TileKey> recent_;  // most recently used first
  std::map<TileKey, Entry> entries_;
  std::map<TileKey, std::shared_future<Shared>> under_way_;
};

}  // namespace fovea
