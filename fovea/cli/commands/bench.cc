#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/cli/command.h"
#include "fovea/cli/help.h"
#include "fovea/cli/terminal.h"

namespace fovea {

Command bench_command();

namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "fovea-bench";
constexpr const char* kPython = "python3";

constexpr const char* kBenchDetails =
    R"(Alone: matrix products, streaming attention, exact tiles, column sums, pyramids.
Each checks its answer against a plain reference before it is timed, and reports
the median of five repetitions. NAME is a regular expression.

--compare runs PyTorch and fovea on the same shapes in turns, five turns each,
and prints a line `NAME ratio R target T` for every row: fovea's median, with
every map readable, over that of PyTorch without maps, or over a limit. NAME is
a row or a pattern in quotes ('bert*', '*/bf16'). Without one, all rows but
relevancy/memory and first-map/maps run, in less than nine minutes on two
cores. PyTorch is installed into fovea's cache the first time, and 3 GB of
random weights are written there; both say so before, and may be deleted at any
time.

--isa avx2 or sse4 holds both sides to that instruction set, each by its own
switches, so that a machine with AVX-512 can be measured as one without; the
result says what each side used. (FOVEA_ISA does it for fovea alone.)

--growth runs a GPT-2 shape on 512 to 32,768 tokens and prints with which power
of the length time and memory grow. It needs no PyTorch.

examples:
  fovea bench attention
  fovea bench --compare --list
  fovea bench --compare bert-512 'attention-*'
  fovea bench --compare --isa avx2 'attention-*'
)";

// They are read by the programs that this one becomes.
std::vector<Option> bench_options() {
  return {
      Option::flag("compare", "fovea and PyTorch side by side"),
      Option::flag("growth", "time and memory against the length of a text"),
      Option::flag("list", "the names"),
      Option::flag("json", "JSON instead of a table: all turns, machine and versions"),
      Option::text("out", "FILE",
                   "write that JSON to a file too (with --compare or --growth; default, for "
                   "complete runs in a checkout: bench/results/PROCESSOR-THREADS-KIND.json)"),
      Option::text("python", "FILE",
                   "a Python that has PyTorch and transformers, instead of installing them (with "
                   "--compare; or the variable FOVEA_BENCH_PYTHON)"),
      Option::text("isa", "NAME",
                   "instruction set that both are held to (with --compare): avx2|sse4"),
      Option::integer("threads", "N",
                      "processor cores of both (with --compare or --growth; default: all)", 1),
      Option::integer("rounds", "N", "turns of each (default: 5; --growth: 3)", 1),
      Option::integer("timeout", "S", "seconds after which a turn is given up (default: 120)", 1)};
}

fs::path own_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

// Beside this program (a build folder), or where an installation puts helpers.
fs::path bench_program() {
  const fs::path folder = own_path().parent_path();
  for (const fs::path& place :
       {folder / kProgram, folder.parent_path() / "libexec" / "fovea" / kProgram}) {
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  fail(ErrorKind::kNotFound,
       "{} is not beside this program; build it with "
       "`cmake -DFOVEA_BENCH=ON BUILD && cmake --build BUILD --target {}`",
       kProgram, kProgram);
}

// Where it was installed, or where it was built.
fs::path comparison_folder() {
  const fs::path installed = own_path().parent_path().parent_path() / "share/fovea/bench/compare";
  for (const fs::path& place : {installed, fs::path(FOVEA_SOURCE_BENCH) / "compare"}) {
    if (::access((place / "__main__.py").c_str(), R_OK) == 0) return place;
  }
  fail(ErrorKind::kNotFound, "the comparison is not in {}; run it from a build or an installation",
       installed.string());
}

[[noreturn]] void replace_this_program(const std::string& program, std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(program.c_str(), pointers.data());
  if (errno == ENOENT && program == kPython) {
    fail(ErrorKind::kNotFound, "there is no {} here; --compare and --growth need Python 3.10",
         program);
  }
  fail(ErrorKind::kIo, "{}: cannot be run: {}", program, std::strerror(errno));
}

void run_bench(const Args& args) {
  const auto& rest = args.rest();
  const auto given = [&](const char* word) { return std::ranges::find(rest, word) != rest.end(); };
  if (given("--help") || given("-h")) {
    write_stdout(command_help(bench_command()));
    return;
  }
  std::vector<std::string> words{kProgram};
  std::string program = kPython;
  if (given("--compare") || given("--growth")) {
    // -B: nothing is written beside the sources.
    words = {kPython, "-B", comparison_folder().string(), "--fovea", own_path().string()};
  } else {
    program = bench_program().string();
  }
  words.insert(words.end(), rest.begin(), rest.end());
  replace_this_program(program, std::move(words));
}

}  // namespace

Command bench_command() {
  return {.name = "bench",
          .summary = "the speed of this machine, alone and side by side with PyTorch",
          .details = kBenchDetails,
          .positionals = {{.name = "NAME...",
                           .help = "which benchmarks",
                           .required = false,
                           .is_file = false}},
          .options = bench_options(),
          .raw_arguments = true,
          .run = run_bench};
}

}  // namespace fovea
