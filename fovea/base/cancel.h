// A way to ask long work to stop. Whoever starts the work holds a token and puts it in scope
// (watch.h). Loops, matrix products and file operations look at the scope between their pieces and
// leave with Error{kCancelled}. So only the code that starts work needs to name a token.
#pragma once

#include <atomic>
#include <memory>

namespace fovea {

// Copies share one flag. Any of them may cancel it, also from a signal handler.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}

  void cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

// Whether this thread's work should stop.
bool cancel_asked() noexcept;
// Throws Error{kCancelled} if cancel_asked(). Costs next to nothing.
void check_cancelled();

}  // namespace fovea
