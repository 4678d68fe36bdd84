#include "fovea/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fovea {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr int kBarWidth = 28;

// Who wants no escapes gets no bar: it is nothing without them.
bool shows_bars() {
  const auto value = [](const char* name) {
    const char* found = std::getenv(name);
    return std::string_view(found == nullptr ? "" : found);
  };
  return ::isatty(STDERR_FILENO) == 1 && value("TERM") != "dumb" && value("NO_COLOR").empty();
}

}  // namespace

std::string format_bytes(uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "kB", "MB", "GB", "TB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return fmt::format("{:.{}f} {}", number, unit == 0 || number >= 99.95 ? 0 : 1, kUnits[unit]);
}

Progress::Progress(std::string title, int64_t total, ProgressUnit unit)
    : title_(std::move(title)),
      total_(std::max<int64_t>(total, 1)),
      unit_(unit),
      visible_(shows_bars()),
      start_(std::chrono::steady_clock::now()),
      last_drawn_(start_) {}

Progress::~Progress() {
  const bool is_drawn = last_drawn_ != start_;
  if (visible_ && is_drawn) fmt::print(stderr, "\r\033[K");
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
  const auto count = static_cast<double>(std::max<int64_t>(done(), 0));
  const double share = std::min(1.0, count / static_cast<double>(total_));
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const int filled = static_cast<int>(share * kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : "░";
  const double left = share > 0 ? elapsed * (1 - share) / share : 0;
  fmt::print(stderr, "\r\033[K{} {} {:3.0f} %  {:.0f} s left", title_, bar, share * 100, left);
  if (unit_ == ProgressUnit::kBytes && elapsed > 0) {
    fmt::print(stderr, ", {} of {}, {}/s", format_bytes(static_cast<uint64_t>(count)),
               format_bytes(static_cast<uint64_t>(total_)),
               format_bytes(static_cast<uint64_t>(count / elapsed)));
  }
  std::fflush(stderr);
}

}  // namespace fovea
