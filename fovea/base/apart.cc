#include "fovea/base/apart.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/team.h"
#include "fovea/base/watch.h"

namespace fovea {

void run_apart(int64_t count, const std::function<void(int64_t)>& body) {
  if (!on_team()) return run_on_free_team([&] { run_apart(count, body); });
  const WatchScope* scope = WatchScope::current();
  const int64_t workers = std::min<int64_t>(count, thread_count());
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    const SingleThread single(true);
    const InScope within(scope);
    for (int64_t i = next++; i < count; i = next++) {
      try {
        check_cancelled();
        body(i);
      } catch (...) {
        errors[static_cast<size_t>(i)] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int64_t t = 1; t < workers; ++t) others.emplace_back(work);
    } catch (const std::system_error&) {  // there are no more; fewer do the same work
    }
    work();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace fovea
