// fovea-bench: the speed of this machine. Run by `fovea bench`, which passes its arguments on and
// has the help.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report.h"
#include "fovea/base/error.h"
#include "fovea/base/team.h"
#include "fovea/kernels/simd_targets.h"

namespace {

struct Options {
  std::string filter;
  bool json = false;
  bool list = false;
};

// Google Benchmark takes its settings as a command line.
void initialize(const Options& options) {
  std::vector<std::string> words{
      "fovea-bench", "--benchmark_repetitions=5", "--benchmark_min_time=0.05",
      "--benchmark_filter=" + (options.filter.empty() ? "." : options.filter)};
  if (options.list) words.emplace_back("--benchmark_list_tests=true");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

int run(const Options& options) {
  initialize(options);
  if (options.list) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  fovea::TableReporter table;
  benchmark::JSONReporter json;
  benchmark::BenchmarkReporter& reporter =
      options.json ? static_cast<benchmark::BenchmarkReporter&>(json) : table;
  std::ostringstream complaints;  // ours are the ones that are shown
  reporter.SetErrorStream(&complaints);
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) {
    fmt::print(stderr, "fovea: no benchmark is called '{}'; `fovea bench --list` names them\n",
               options.filter);
    return 2;
  }
  return table.failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument.starts_with("-")) {
      fmt::print(stderr, "fovea: bench knows no '{}'; see `fovea bench --help`\n", argument);
      return 2;
    } else {
      options.filter += (options.filter.empty() ? "" : "|") + std::string(argument);
    }
  }
  try {
    fovea::follow_isa_variable();
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "fovea: {}\n", error.what());
    return 1;
  }
  return fovea::run_on_team([&] { return run(options); });
}
