// A way to ask long work to stop. Work checks between blocks and leaves with Error{kCancelled}.
#pragma once

#include <atomic>
#include <memory>

#include "fovea/base/error.h"

namespace fovea {

// Copies share one flag. A default-made token can be cancelled through any of its copies.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}

  void cancel() const noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }
  void check() const {
    if (cancelled()) fail(ErrorKind::kCancelled, "the work was cancelled");
  }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

}  // namespace fovea
