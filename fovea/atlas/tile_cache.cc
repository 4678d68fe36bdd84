#include "fovea/atlas/tile_cache.h"

#include <chrono>

#include "fovea/base/cancel.h"

namespace fovea {
namespace {

constexpr auto kJoinedLook = std::chrono::milliseconds(5);

}  // namespace

std::shared_ptr<const PyramidTile> TileCache::get(const TileKey& key, const Compute& compute) {
  for (;;) {
    check_cancelled();
    std::promise<Shared> promise;
    {
      std::unique_lock lock(mutex_);
      if (Shared tile = find(key)) return tile;
      if (const auto it = under_way_.find(key); it != under_way_.end()) {
        const std::shared_future<Shared> other = it->second;
        lock.unlock();
        // Whoever waits may be cancelled alone.
        while (other.wait_for(kJoinedLook) != std::future_status::ready) check_cancelled();
        try {
          return other.get();
        } catch (const Error& error) {
          if (error.kind() != ErrorKind::kCancelled) throw;
          continue;  // the other caller gave up; this one has not
        }
      }
      under_way_.emplace(key, promise.get_future().share());
    }
    try {
      auto tile = std::make_shared<const PyramidTile>(compute());
      const std::lock_guard lock(mutex_);
      insert(key, tile);
      under_way_.erase(key);
      promise.set_value(tile);
      return tile;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      under_way_.erase(key);
      promise.set_exception(std::current_exception());
      throw;
    }
  }
}

std::shared_ptr<const PyramidTile> TileCache::find_tile(const TileKey& key) {
  const std::lock_guard lock(mutex_);
  return find(key);
}

size_t TileCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

TileCache::Shared TileCache::find(const TileKey& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, it->second.recency);
  return it->second.tile;
}

void TileCache::insert(const TileKey& key, const Shared& tile) {
  if (tile->bytes() > limit_bytes_) return;
  while (bytes_ + tile->bytes() > limit_bytes_) {
    const auto oldest = entries_.find(recent_.back());
    bytes_ -= oldest->second.tile->bytes();
    entries_.erase(oldest);
    recent_.pop_back();
  }
  recent_.push_front(key);
  entries_.emplace(key, Entry{tile, recent_.begin()});
  bytes_ += tile->bytes();
}

}  // namespace fovea
