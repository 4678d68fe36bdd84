// How long work takes to stop when it is asked to.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "fovea/base/error.h"
#include "fovea/base/watch.h"
#include "support/sanitized.h"

namespace fovea::support {

// Machines of tests are busy, and slow under a sanitizer.
inline constexpr double kStopSlack = kSanitized ? 40 : 5;
inline constexpr double kStopQuickly = 0.05 * kStopSlack;  // attention, tiles, linear layers
inline constexpr double kStopSoon = 0.3 * kStopSlack;      // convolutions, drawing, files

// Seconds from the request, made a little after `work` began, until it has left with
// Error{kCancelled}. None if it was through before, or left otherwise.
inline std::optional<double> seconds_to_stop(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const CancelToken token;
  bool cancelled = false;
  Clock::time_point left;
  std::jthread worker([&] {
    const WatchScope scope({.cancel = token});
    try {
      work();
    } catch (const Error& error) {
      cancelled = error.kind() == ErrorKind::kCancelled;
    }
    left = Clock::now();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const Clock::time_point asked = Clock::now();
  token.cancel();
  worker.join();
  if (!cancelled) return {};
  return std::chrono::duration<double>(left - asked).count();
}

}  // namespace fovea::support
