// A stage of work that tells whoever watches how far it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "fovea/base/watch.h"

namespace fovea {

// "12.3 MB": at most four digits; kB, MB, GB and TB are powers of 1000.
std::string format_bytes(uint64_t bytes);

// Tells the scope in which it is made, if that hears no other stage: what is begun within a stage
// is a part of its steps. advance() may be called from any thread.
class Progress {
 public:
  Progress(std::string title, int64_t total, ProgressUnit unit = ProgressUnit::kSteps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(int64_t count = 1);  // negative: that much is to be done again
  int64_t done() const { return done_.load(std::memory_order_relaxed); }
  int64_t total() const { return total_; }

 private:
  Stage stage(bool ended) const;
  std::string title_;
  int64_t total_;
  ProgressUnit unit_;
  std::atomic<int64_t> done_{0};
  const WatchScope* listener_;  // null: nobody hears this stage
  std::mutex mutex_;
};

}  // namespace fovea
