#include "fovea/base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fovea {

std::string format_bytes(uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "kB", "MB", "GB", "TB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return fmt::format("{:.{}f} {}", number, unit == 0 || number >= 99.95 ? 0 : 1, kUnits[unit]);
}

Progress::Progress(std::string title, int64_t total, ProgressUnit unit)
    : title_(std::move(title)), total_(std::max<int64_t>(total, 1)), unit_(unit) {
  const WatchScope* scope = WatchScope::current();
  listener_ = scope == nullptr ? nullptr : scope->begin_stage();
  if (listener_ != nullptr) listener_->tell(stage(false));
}

Progress::~Progress() {
  if (listener_ == nullptr) return;
  listener_->tell(stage(true));
  listener_->end_stage();
}

void Progress::advance(int64_t count) {
  done_.fetch_add(count, std::memory_order_relaxed);
  if (listener_ == nullptr) return;
  const std::unique_lock lock(mutex_,
                              std::try_to_lock);  // whoever comes meanwhile is told of next time
  if (lock.owns_lock()) listener_->tell(stage(false));
}

Stage Progress::stage(bool ended) const {
  return {.title = title_, .done = done(), .total = total_, .unit = unit_, .ended = ended};
}

}  // namespace fovea
