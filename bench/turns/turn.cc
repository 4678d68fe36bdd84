#include "bench/turns/turn.h"

#include <chrono>
#include <cmath>

namespace fovea {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double mean_seconds_of(const std::function<void()>& work) {
  constexpr double kLongEnough = 0.1;
  const double first = seconds_of(work);
  if (first >= kLongEnough) return first;
  const auto count = static_cast<int>(std::ceil(kLongEnough / std::max(first, 1e-6)));
  return seconds_of([&] {
           for (int i = 0; i < count; ++i) work();
         }) /
         count;
}

}  // namespace fovea
