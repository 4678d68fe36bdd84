// fovea-bench [NAME...] [--json] [--list]: the speed of this machine. Run by `fovea bench`.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "bench/report.h"

int main(int argc, char** argv) {
  std::string filter;
  bool json = false;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--list") {
      list = true;
    } else if (argument.starts_with("-")) {
      fmt::print(stderr, "fovea: bench knows no '{}'; it takes names, --list and --json\n",
                 argument);
      return 2;
    } else {
      filter += (filter.empty() ? "" : "|") + std::string(argument);
    }
  }
  std::vector<std::string> options{"fovea-bench", "--benchmark_repetitions=5",
                                   "--benchmark_min_time=0.05",
                                   "--benchmark_filter=" + (filter.empty() ? "." : filter)};
  if (list) options.emplace_back("--benchmark_list_tests=true");
  std::vector<char*> pointers;
  for (std::string& option : options) pointers.push_back(option.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (json || list) {
    benchmark::JSONReporter reporter;
    return benchmark::RunSpecifiedBenchmarks(list ? nullptr : &reporter) == 0 ? 1 : 0;
  }
  fovea::TableReporter reporter;
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) {
    fmt::print(stderr, "fovea: no benchmark is called '{}'; 'fovea bench --list' names them\n",
               filter);
    return 2;
  }
  return reporter.failed() ? 1 : 0;
}
