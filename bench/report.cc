#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernels/simd_targets.h"

namespace fovea {
namespace {

std::string readable_time(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:8.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:8.2f} ms", seconds * 1e3);
  return fmt::format("{:8.2f} s ", seconds);
}

}  // namespace

bool TableReporter::ReportContext(const Context&) {
  fmt::print(
      "{} thread{}, {} instructions. Median of the repetitions; spread is max - min over the "
      "median.\n",
      thread_count(), thread_count() == 1 ? "" : "s", active_simd_target());
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  // A call brings the repetitions of one benchmark, and its aggregates.
  std::vector<double> times;
  for (const Run& run : runs) {
    if (run.error_occurred) {
      failed_ = true;
      fmt::print("{}: {}\n", run.benchmark_name(), run.error_message);
      return;
    }
    if (run.run_type == Run::RT_Iteration) {
      times.push_back(run.real_accumulated_time / double(std::max<int64_t>(run.iterations, 1)));
    }
  }
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const std::string& group = runs.front().run_name.function_name;
  if (group != group_) fmt::print("\n{}\n", group);
  group_ = group;
  std::string label = runs.front().report_label;
  if (label.empty()) label = runs.front().run_name.args;
  std::string rate;
  if (const auto it = runs.front().counters.find("flop"); it != runs.front().counters.end()) {
    rate = fmt::format("{:8.1f} GFLOP/s", it->second.value / median / 1e9);
  }
  fmt::print("  {:<44} {}  spread {:4.1f} %{}{}\n", label, readable_time(median),
             100 * (times.back() - times.front()) / median, rate.empty() ? "" : "  ", rate);
  std::fflush(stdout);
}

void require_close(benchmark::State& state, double found, double expected, double tolerance,
                   const char* what) {
  if (std::abs(found - expected) <= tolerance) return;
  state.SkipWithError(
      fmt::format("{}: found {} but the reference has {}", what, found, expected).c_str());
}

}  // namespace fovea
