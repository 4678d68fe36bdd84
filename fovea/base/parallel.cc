#include "fovea/base/parallel.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer does not see libgomp's barriers; under it a team is made of plain threads.
thread_local bool in_team = false;

bool inside_team() {
  return in_team;
}

void run_team(const std::function<void()>& work) {
  std::vector<std::thread> team;
  for (int t = 0; t < omp_get_max_threads(); ++t) {
    team.emplace_back([&] {
      in_team = true;
      work();
    });
  }
  for (std::thread& member : team) member.join();
}
#else
bool inside_team() {
  // Not omp_in_parallel(), which does not count a team of one (OMP_THREAD_LIMIT=1).
  return omp_get_level() > 0;
}

void run_team(const std::function<void()>& work) {
#pragma omp parallel
  work();
}
#endif

}  // namespace

int thread_count() {
  return inside_team() ? 1 : omp_get_max_threads();
}

void set_thread_count(int count) {
  if (count < 1) fail(ErrorKind::kInvalidArgument, "{} threads asked for; use 1 or more", count);
  omp_set_num_threads(count);
}

SingleThread::SingleThread(bool small) {
  if (!small || inside_team()) return;
  before_ = omp_get_max_threads();
  omp_set_num_threads(1);
}

SingleThread::~SingleThread() {
  if (before_ > 0) omp_set_num_threads(before_);
}

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 1 || thread_count() == 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first_error;
  run_team([&] {
    for (int64_t i = next++; i < count && !failed.load(std::memory_order_relaxed); i = next++) {
      try {
        body(i);
      } catch (...) {
        if (!failed.exchange(true)) first_error = std::current_exception();
      }
    }
  });
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace fovea
