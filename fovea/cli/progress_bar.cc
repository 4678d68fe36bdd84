#include "fovea/cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/progress.h"

namespace fovea {
namespace {

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr int kProgressWidth = 28;

// Who wants no escapes gets no bar: it is nothing without them.
bool shows_bars() {
  const auto value = [](const char* name) {
    const char* found = std::getenv(name);
    return std::string_view(found == nullptr ? "" : found);
  };
  return ::isatty(STDERR_FILENO) == 1 && value("TERM") != "dumb" && value("NO_COLOR").empty();
}

class ProgressBar {
  using Clock = std::chrono::steady_clock;

 public:
  void hear(const Stage& stage) {
    const Clock::time_point now = Clock::now();
    if (!in_stage_) {
      in_stage_ = true;
      start_ = last_drawn_ = now;
    }
    if (stage.ended) {
      if (last_drawn_ != start_) fmt::print(stderr, "\r\033[K");
      in_stage_ = false;
    } else if (now - last_drawn_ >= kRedrawInterval) {
      last_drawn_ = now;
      draw(stage, std::chrono::duration<double>(now - start_).count());
    }
  }

 private:
  static void draw(const Stage& stage, double elapsed) {
    const auto count = static_cast<double>(std::max<int64_t>(stage.done, 0));
    const double share = std::min(1.0, count / static_cast<double>(stage.total));
    const int filled = static_cast<int>(share * kProgressWidth);
    std::string bar;
    for (int i = 0; i < kProgressWidth; ++i) bar += i < filled ? "█" : "░";
    const double left = share > 0 ? elapsed * (1 - share) / share : 0;
    fmt::print(stderr, "\r\033[K{} {} {:3.0f} %  {:.0f} s left", stage.title, bar, share * 100,
               left);
    if (stage.unit == ProgressUnit::kBytes && elapsed > 0) {
      fmt::print(stderr, ", {} of {}, {}/s", format_bytes(static_cast<uint64_t>(count)),
                 format_bytes(static_cast<uint64_t>(stage.total)),
                 format_bytes(static_cast<uint64_t>(count / elapsed)));
    }
    std::fflush(stderr);
  }

  bool in_stage_ = false;
  Clock::time_point start_;
  Clock::time_point last_drawn_;
};

}  // namespace

ProgressSink progress_bars() {
  if (!shows_bars()) return nullptr;
  return [bar = std::make_shared<ProgressBar>()](const Stage& stage) { bar->hear(stage); };
}

}  // namespace fovea
