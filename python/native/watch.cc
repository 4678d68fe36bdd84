#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fovea/base/watch.h"
#include "python/native/base.h"

namespace fovea::python {
namespace {

// A signal is seen after so long at most, and a listener hears that often.
constexpr auto kLookInterval = std::chrono::milliseconds(20);

// What the listener has not heard yet: the newest report of each stage.
class Reports {
 public:
  void add(const Stage& stage) {
    const std::lock_guard lock(mutex_);
    Report report{std::string(stage.title), stage.done, stage.total, stage.ended};
    if (!waiting_.empty() && !waiting_.back().ended && waiting_.back().title == report.title) {
      waiting_.back() = std::move(report);
    } else {
      waiting_.push_back(std::move(report));
    }
  }
  // With Python's lock. Throws what the listener raises.
  void tell(const nb::object& listener) {
    std::vector<Report> reports;
    {
      const std::lock_guard lock(mutex_);
      reports.swap(waiting_);
    }
    for (const Report& report : reports) {
      listener(nb::str(report.title.c_str()), report.done, report.total, report.ended);
    }
  }

 private:
  struct Report {
    std::string title;
    int64_t done;
    int64_t total;
    bool ended;
  };
  std::mutex mutex_;
  std::vector<Report> waiting_;
};

// Work on a thread of its own, which is joined in any case.
class Worker {
 public:
  Worker(const std::function<void()>& work, Watch watch)
      : watch_(std::move(watch)), thread_([this, &work] { run(work); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    watch_.cancel.cancel();  // does nothing to work that is done
    const nb::gil_scoped_release unlocked;
    thread_.join();
  }

  // Waits that long, without Python's lock.
  bool is_done_within(std::chrono::milliseconds time) {
    const nb::gil_scoped_release unlocked;
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return is_done_; });
  }
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void run(const std::function<void()>& work) {
    try {
      const WatchScope scope(watch_);
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    ended_.notify_one();
  }

  Watch watch_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_done_ = false;
  std::exception_ptr error_ = nullptr;
  std::thread thread_;  // the last: it uses all others
};

// A callable, or None: nobody listens in this context.
nb::object listener_here() {
  return nb::module_::import_("fovea._progress").attr("listener")();
}

}  // namespace

void watched_work(const std::function<void()>& work) {
  const nb::object listener = listener_here();
  Reports reports;
  Watch watch;
  if (!listener.is_none()) watch.progress = [&](const Stage& stage) { reports.add(stage); };
  Worker worker(work, watch);
  // What a handler or the listener raises leaves through the worker's end, which cancels the work.
  while (!worker.is_done_within(kLookInterval)) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!listener.is_none()) reports.tell(listener);
  }
  if (!listener.is_none()) reports.tell(listener);
  worker.rethrow();
}

}  // namespace fovea::python
