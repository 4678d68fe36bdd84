// What somebody who waits for work gives it: a way to stop it, and a listener for its progress. The
// work finds both in the scope that it runs in, however many calls lie between (docs/adr/0017).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "fovea/base/cancel.h"

namespace fovea {

enum class ProgressUnit { kSteps, kBytes };

// How far one stage of the work is.
struct Stage {
  std::string_view title;  // "running the model"
  int64_t done = 0;
  int64_t total = 1;
  ProgressUnit unit = ProgressUnit::kSteps;
  bool ended = false;  // this is the stage's last report
};

// Called often and from any thread, but never twice at once for one stage. Must be quick and must
// not throw.
using ProgressSink = std::function<void(const Stage&)>;

struct Watch {
  CancelToken cancel;
  ProgressSink progress = nullptr;  // null: nobody listens
};

// While this lives, it watches the work of this thread and of the threads that work for it. Scopes
// nest: work stops when any scope around it is cancelled, and reports to the innermost one that has
// a listener.
class WatchScope {
 public:
  explicit WatchScope(Watch watch);
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
  ~WatchScope();

  bool cancelled() const noexcept;
  // Begins a stage in the innermost scope that has a listener. Returns that scope, or null if
  // nobody listens or if the listener already hears another stage.
  const WatchScope* begin_stage() const noexcept;
  void end_stage() const noexcept { has_stage_ = false; }
  void tell(const Stage& stage) const { watch_.progress(stage); }
  // The innermost scope of this thread; null: none.
  static const WatchScope* current() noexcept;

 private:
  Watch watch_;
  const WatchScope* outer_;
  mutable std::atomic<bool> has_stage_ = false;
};

// Puts this thread into the scope of the thread that it works for. With null it leaves all scopes,
// for work that must finish although everything else stops, such as saving the state of a long
// count.
class InScope {
 public:
  explicit InScope(const WatchScope* scope) noexcept;
  InScope(const InScope&) = delete;
  InScope& operator=(const InScope&) = delete;
  ~InScope();

 private:
  const WatchScope* before_;
};

}  // namespace fovea
