// Small work on one thread: handing it to several takes longer than doing it, above all beside
// other programs.
#pragma once

namespace fovea {

// While it lives, parallel loops and oneDNN of the calling thread use one thread, if `small`.
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
