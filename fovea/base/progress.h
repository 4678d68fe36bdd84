// A stage of work that reports its progress to whoever watches (watch.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "fovea/base/watch.h"

namespace fovea {

// "12.3 MB": at most four digits; kB, MB, GB and TB are powers of 1000.
std::string format_bytes(uint64_t bytes);

// Reports to the scope in which it is made, unless that scope already hears another stage: a stage
// that begins within another is part of it and stays silent. advance() may be called from any
// thread.
class Progress {
 public:
  Progress(std::string title, int64_t total, ProgressUnit unit = ProgressUnit::kSteps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void advance(int64_t count = 1);  // negative: so much must be done again
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
