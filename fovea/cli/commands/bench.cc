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

constexpr const char* kProgram = "fovea-bench";

// Beside this program (a build folder), or where an installation puts helpers; empty: nowhere.
std::filesystem::path find_bench() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path folder = self.parent_path();
  for (const std::filesystem::path& place :
       {folder / kProgram, folder.parent_path() / "libexec" / "fovea" / kProgram}) {
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

void run(const Args& args) {
  const std::filesystem::path program = find_bench();
  if (program.empty()) {
    const auto& rest = args.rest();
    if (std::ranges::find(rest, "--help") != rest.end()) {
      write_stdout(command_help(bench_command()));
      return;
    }
    fail(ErrorKind::kNotFound,
         "{} is not beside this program; build it with "
         "`cmake -DFOVEA_BENCH=ON BUILD && cmake --build BUILD --target {}`",
         kProgram, kProgram);
  }
  std::vector<char*> words{const_cast<char*>(kProgram)};
  for (const std::string& word : args.rest()) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  fail(ErrorKind::kIo, "{}: cannot be run: {}", program.string(), std::strerror(errno));
}

}  // namespace

Command bench_command() {
  return {
      .name = "bench",
      .summary = "the speed of this machine: matmul, attention, tiles, pyramids",
      .details = "Runs fovea-bench, which gets all arguments; with it built, --help is its own.\n",
      .raw_arguments = true,
      .run = run};
}

}  // namespace fovea
