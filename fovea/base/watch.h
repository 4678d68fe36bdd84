// What somebody who waits for work gives it: a way to stop it, and an ear for how far it is. Work
// finds both in the scope it runs in, whatever stands between (docs/adr/0017).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "fovea/base/cancel.h"

namespace fovea {

enum class ProgressUnit { kSteps, kBytes };

// How far a part of the work is.
struct Stage {
  std::string_view title;  // "running the model"
  int64_t done = 0;
  int64_t total = 1;
  ProgressUnit unit = ProgressUnit::kSteps;
  bool ended = false;  // nothing more comes of this stage
};

// Called often, one call at a time of a stage but from any thread; must be quick and not throw.
using ProgressSink = std::function<void(const Stage&)>;

struct Watch {
  CancelToken cancel;
  ProgressSink progress = nullptr;  // null: nobody listens
};

// While it lives, work of this thread, and of the threads that work for it, is watched so. Within
// another scope it stops when either is cancelled, and tells the inner one, or else the outer.
class WatchScope {
 public:
  explicit WatchScope(Watch watch);
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
  ~WatchScope();

  bool cancelled() const noexcept;
  // Who listens here and hears no other stage now, which then has begun; null: nobody.
  const WatchScope* begin_stage() const noexcept;
  void end_stage() const noexcept { has_stage_ = false; }
  void tell(const Stage& stage) const { watch_.progress(stage); }
  // The innermost of this thread; null: none.
  static const WatchScope* current() noexcept;

 private:
  Watch watch_;
  const WatchScope* outer_;
  mutable std::atomic<bool> has_stage_ = false;
};

// Puts this thread into the scope of the one it works for; with null, into none: for what must be
// finished although everything else stops, such as saving the state of a long count.
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
