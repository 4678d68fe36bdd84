// A progress bar on stderr when it is a terminal, nothing at all in a pipe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace fovea {

enum class ProgressUnit { kSteps, kBytes };

// "12.3 MB": at most four digits; kB, MB, GB and TB are powers of 1000.
std::string format_bytes(uint64_t bytes);

// advance() may be called from any thread. The bar is removed when the object dies.
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
  void draw();
  std::string title_;
  int64_t total_;
  ProgressUnit unit_;
  std::atomic<int64_t> done_{0};
  bool visible_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace fovea
