// Turns Google Benchmark's results into one readable table: median of the repetitions, spread,
// rate.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace fovea {

class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  bool failed() const { return failed_; }

 private:
  bool failed_ = false;
  std::string group_;
};

// Stops the benchmark with an error unless the two agree: a fast wrong answer is not a result.
void require_close(benchmark::State& state, double found, double expected, double tolerance,
                   const char* what);

}  // namespace fovea
