// Computes whole maps in the background, so that overviews that were first looked at become exact.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "fovea/atlas/pyramid.h"
#include "fovea/base/cancel.h"

namespace fovea {

// One map at a time, and only while nobody waits for a tile.
class ExactPass {
 public:
  // `is_busy`: whether somebody waits.
  explicit ExactPass(std::function<bool()> is_busy);
  ExactPass(const ExactPass&) = delete;
  ExactPass& operator=(const ExactPass&) = delete;
  ~ExactPass();

  // Fills every level of the map from `first_level` on, unless that is under way. A map that nobody
  // else holds any more is left.
  void want(const std::shared_ptr<const Pyramid>& pyramid, int first_level);
  // How many maps are under way or wait.
  size_t size() const;

 private:
  struct Wanted {
    std::weak_ptr<const Pyramid> pyramid;
    uint64_t id;
    int first_level;
    int levels;
  };
  void run();
  void fill(const Wanted& wanted, int level, int64_t y, int64_t x);
  void wait_for_quiet();

  std::function<bool()> is_busy_;
  CancelToken stop_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Wanted> waiting_;
  std::set<uint64_t> known_;
  std::thread thread_;
};

}  // namespace fovea
