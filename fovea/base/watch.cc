#include "fovea/base/watch.h"

#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

thread_local const WatchScope* innermost_scope = nullptr;

}  // namespace

WatchScope::WatchScope(Watch watch) : watch_(std::move(watch)), outer_(innermost_scope) {
  innermost_scope = this;
}

WatchScope::~WatchScope() {
  innermost_scope = outer_;
}

bool WatchScope::cancelled() const noexcept {
  for (const WatchScope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->watch_.cancel.cancelled()) return true;
  }
  return false;
}

const WatchScope* WatchScope::begin_stage() const noexcept {
  for (const WatchScope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->watch_.progress) return scope->has_stage_.exchange(true) ? nullptr : scope;
  }
  return nullptr;
}

const WatchScope* WatchScope::current() noexcept {
  return innermost_scope;
}

InScope::InScope(const WatchScope* scope) noexcept : before_(innermost_scope) {
  innermost_scope = scope;
}

InScope::~InScope() {
  innermost_scope = before_;
}

bool cancel_asked() noexcept {
  return innermost_scope != nullptr && innermost_scope->cancelled();
}

void check_cancelled() {
  if (cancel_asked()) fail(ErrorKind::kCancelled, "the work was cancelled");
}

}  // namespace fovea
