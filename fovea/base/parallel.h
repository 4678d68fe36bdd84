// Loops over all cores. OpenMP underneath, the same runtime that oneDNN uses, so that the two never
// compete for cores.
#pragma once

#include <cstdint>
#include <functional>

namespace fovea {

// How many threads a parallel loop of the calling thread uses.
int thread_count();
// For this thread and oneDNN; `count` >= 1.
void set_thread_count(int count);

// Calls body(i) once for every i in [0, count), in any order, from several threads. The first
// exception of a body is thrown again here; bodies not yet started are then skipped.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

// While it lives, parallel loops and oneDNN of the calling thread use one thread, if `small`:
// handing small work to several takes longer than doing it, above all beside other programs.
class SingleThread {
 public:
  explicit SingleThread(bool small);
  ~SingleThread();
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_ = 0;  // 0: nothing was changed
};

}  // namespace fovea
