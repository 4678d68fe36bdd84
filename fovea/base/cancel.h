// A way to ask long work to stop. Whoever begins work holds a token and puts it in scope
// (watch.h); loops, matrix products and files look at the scope between their pieces and leave with
// Error{kCancelled}. So a token is named where work is begun and nowhere below.
#pragma once

#include <atomic>
#include <memory>

namespace fovea {

// Copies share one flag. It may be cancelled through any of them, also from a signal handler.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}

  void cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

// Whether the work of this thread should stop.
bool cancel_asked() noexcept;
// Throws Error{kCancelled} if so. Costs next to nothing.
void check_cancelled();

}  // namespace fovea
