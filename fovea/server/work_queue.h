// Threads that work on requests, as many for a kind of work as suits it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fovea {

class WorkQueue {
 public:
  // `most_waiting`: more work than that is refused.
  WorkQueue(int threads, size_t most_waiting);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  // Waits for what is under way; what waits is dropped.
  ~WorkQueue();

  // False: too much waits already, and the work is not taken. The work must not throw.
  bool submit(std::function<void()> work);
  // How much is under way or waits.
  size_t size() const;

 private:
  void run();

  size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  size_t running_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fovea
