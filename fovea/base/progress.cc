#include "fovea/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace fovea {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr int kBarWidth = 28;

}  // namespace

Progress::Progress(std::string title, int64_t total)
    : title_(std::move(title)),
      total_(std::max<int64_t>(total, 1)),
      visible_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_drawn_(start_) {}

Progress::~Progress() {
  if (visible_) fmt::print(stderr, "\r\033[K");
}

void Progress::advance(int64_t count) {
  done_.fetch_add(count, std::memory_order_relaxed);
  if (!visible_) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) draw();
}

void Progress::draw() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < kRedrawInterval) return;
  last_drawn_ = now;
  const double share = std::min(1.0, static_cast<double>(done()) / static_cast<double>(total_));
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const int filled = static_cast<int>(share * kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  const double left = share > 0 ? elapsed * (1 - share) / share : 0;
  fmt::print(stderr, "\r\033[K{} {} {:3.0f} %  {:.0f} s left", title_, bar, share * 100, left);
  std::fflush(stderr);
}

}  // namespace fovea
