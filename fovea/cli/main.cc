#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fovea/cli/cli.h"
#include "fovea/cli/interrupt.h"

namespace {

// Whether another program computes right now.
bool others_compute() {
  std::FILE* file = std::fopen("/proc/loadavg", "re");
  if (file == nullptr) return false;
  int running = 0;
  const bool known = std::fscanf(file, "%*f %*f %*f %d/", &running) == 1;
  std::fclose(file);
  return known && running > 1;
}

// Threads that wait for each other spin for milliseconds before they sleep, which beside other
// programs costs a factor of ten (writing 20 tokens: 10 s instead of 1). libgomp reads how long
// before main(), so that the program starts over to say it; alone it need not, which saves 9 ms.
void start_over_with_short_waits(char** argv) {
  constexpr const char* kVariable = "GOMP_SPINCOUNT";
  const bool computes = argv[0] != nullptr && argv[1] != nullptr && argv[1][0] != '-';
  if (!computes || std::getenv(kVariable) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr ||
      !others_compute()) {
    return;
  }
  ::setenv(kVariable, "1000", 1);
  ::execv("/proc/self/exe", argv);  // where that is not possible, waits stay long
}

}  // namespace

int main(int argc, char** argv) {
  start_over_with_short_waits(argv);
  fovea::install_signal_handlers();
  return fovea::run_cli(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
