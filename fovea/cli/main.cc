#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fovea/cli/cli.h"
#include "fovea/cli/interrupt.h"

namespace {

// Threads that wait for each other spin for milliseconds before they sleep, unless libgomp is told
// otherwise; beside other programs that costs more than it saves (writing text: 1.8 s instead of 3
// to 15). It reads its variables before main(), so that the program starts over once to set one.
void start_over_with_short_waits(char** argv) {
  constexpr const char* kVariable = "GOMP_SPINCOUNT";
  const bool computes = argv[0] != nullptr && argv[1] != nullptr && argv[1][0] != '-';
  if (!computes || std::getenv(kVariable) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) {
    return;
  }
  ::setenv(kVariable, "1000", 1);
  ::execv("/proc/self/exe", argv);  // where that is not possible, waits are long
}

}  // namespace

int main(int argc, char** argv) {
  start_over_with_short_waits(argv);
  fovea::install_signal_handlers();
  return fovea::run_cli(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
