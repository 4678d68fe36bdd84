#include "fovea/base/team.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/watch.h"

namespace fovea {
namespace {

// What the calling thread is to the team.
enum class Place {
  kOutside,  // any thread of a caller
  kLeader,   // the thread that begins the team's loops
  kAlone,    // one thread by itself: within a loop, or under SingleThread
};
thread_local Place place = Place::kOutside;

// How often those who wait for their turn look whether they are cancelled.
constexpr auto kLookInterval = std::chrono::milliseconds(10);

struct TeamJob {
  const std::function<void()>* work;
  const WatchScope* scope;
  std::condition_variable ended;
  bool is_begun = false;
  bool is_done = false;
  std::exception_ptr error = nullptr;
};

// The thread that leads the team, and who waits for it. Never destroyed: it may run while a process
// ends.
class TeamLeader {
 public:
  TeamLeader() : count_(within_limit(omp_get_max_threads())) {
    static TeamLeader* only = nullptr;
    only = this;
    // A child has the thread that forked and no other. It computes alone.
    ::pthread_atfork([] { only->mutex_.lock(); }, [] { only->mutex_.unlock(); },
                     [] {
                       only->mutex_.unlock();
                       only->is_forked_ = true;
                       only->count_ = 1;
                       place = Place::kOutside;
                       omp_set_num_threads(1);
                     });
  }

  static TeamLeader& get() {
    static TeamLeader& leader = *new TeamLeader;
    return leader;
  }

  int count() const { return count_.load(std::memory_order_relaxed); }
  int own_count() const { return own_count_; }  // of the work in hand; for the leader alone
  void set_count(int count) {
    if (!is_forked_) count_ = within_limit(count);
  }

  // Returns false if the team is busy and the work should not wait, or if no such thread can be
  // had.
  bool run(const std::function<void()>& work, TeamTurn turn) {
    TeamJob job{.work = &work, .scope = WatchScope::current(), .ended = {}};
    std::unique_lock lock(mutex_);
    if (is_forked_ || (turn == TeamTurn::kIfFree && (is_busy_ || !waiting_.empty())) ||
        !has_thread())
      return false;
    waiting_.push_back(&job);
    if (!is_busy_) wake_.notify_one();
    while (!job.is_begun) {
      job.ended.wait_for(lock, kLookInterval);
      if (job.is_begun || !cancel_asked()) continue;
      std::erase(waiting_, &job);
      lock.unlock();
      check_cancelled();
    }
    job.ended.wait(lock, [&] { return job.is_done; });
    lock.unlock();
    if (job.error) std::rethrow_exception(job.error);
    return true;
  }

 private:
  // oneDNN divides work among as many threads as are asked for, and leaves some of it undone where
  // there are fewer.
  static int within_limit(int count) { return std::clamp(count, 1, omp_get_thread_limit()); }

  // Fixes the team for the next piece of work: it keeps its threads, whatever is set meanwhile.
  void set_own_threads() {
    own_count_ = count();
#ifdef __SANITIZE_THREAD__
    const int openmp = 1;  // as in in_every_thread()
#else
    const int openmp = own_count_;
#endif
    if (omp_get_max_threads() != openmp) omp_set_num_threads(openmp);
  }

  // Call with the lock held.
  bool has_thread() {
    if (has_thread_) return true;
    try {
      std::thread([this] { lead(); }).detach();
      has_thread_ = true;
    } catch (const std::system_error&) {  // the system has no more; the caller does it alone
    }
    return has_thread_;
  }

  [[noreturn]] void lead() {
    place = Place::kLeader;
    omp_set_dynamic(0);
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !waiting_.empty(); });
      TeamJob& job = *waiting_.front();
      waiting_.pop_front();
      is_busy_ = job.is_begun = true;
      lock.unlock();
      set_own_threads();
      try {
        const InScope scope(job.scope);
        (*job.work)();
      } catch (...) {
        job.error = std::current_exception();
      }
      lock.lock();
      is_busy_ = false;
      job.is_done = true;
      job.ended.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<TeamJob*> waiting_;
  bool has_thread_ = false;
  bool is_busy_ = false;
  std::atomic<bool> is_forked_ = false;
  std::atomic<int> count_;
  int own_count_ = 1;
};

}  // namespace

int thread_count() {
  if (place == Place::kAlone) return 1;
  return place == Place::kLeader ? TeamLeader::get().own_count() : TeamLeader::get().count();
}

void set_thread_count(int count) {
  if (count < 1) fail(ErrorKind::kInvalidArgument, "{} threads asked for; use 1 or more", count);
  TeamLeader::get().set_count(count);
}

bool on_team() {
  return place != Place::kOutside;
}

void give_to_team(const std::function<void()>& work, TeamTurn turn) {
  if (on_team()) return work();
  const bool gains = turn == TeamTurn::kWait || TeamLeader::get().count() > 1;
  if (gains && TeamLeader::get().run(work, turn)) return;
  const SingleThread alone(true);
  work();
}

void in_every_thread(const std::function<void()>& work) {
  const WatchScope* scope = WatchScope::current();
  const auto as_member = [&] {
    const SingleThread alone(true);
    const InScope within(scope);
    work();
  };
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer does not see libgomp's barriers; under it a team is made of plain threads.
  std::vector<std::thread> team;
  for (int t = 0; t < thread_count(); ++t) team.emplace_back(as_member);
  for (std::thread& member : team) member.join();
#else
#pragma omp parallel
  as_member();
#endif
}

SingleThread::SingleThread(bool small) {
  if (!small || place == Place::kAlone) return;
  changed_ = true;
  was_leader_ = place == Place::kLeader;
  threads_before_ = omp_get_max_threads();
  place = Place::kAlone;
  omp_set_num_threads(1);
}

SingleThread::~SingleThread() {
  if (!changed_) return;
  place = was_leader_ ? Place::kLeader : Place::kOutside;
  omp_set_num_threads(threads_before_);
}

}  // namespace fovea
