#include "fovea/base/parallel.h"

#include <atomic>
#include <exception>

#include "fovea/base/cancel.h"

namespace fovea {

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 1 || thread_count() == 1) {
    for (int64_t i = 0; i < count; ++i) {
      check_cancelled();
      body(i);
    }
    return;
  }
  if (!on_team()) return run_on_free_team([&] { parallel_for(count, body); });
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first_error;
  in_every_thread([&] {
    for (int64_t i = next++; i < count && !failed.load(std::memory_order_relaxed); i = next++) {
      try {
        check_cancelled();
        body(i);
      } catch (...) {
        if (!failed.exchange(true)) first_error = std::current_exception();
      }
    }
  });
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace fovea
