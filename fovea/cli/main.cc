#include <string>
#include <vector>

#include "fovea/cli/cli.h"
#include "fovea/cli/interrupt.h"

int main(int argc, char** argv) {
  fovea::install_signal_handlers();
  return fovea::run_cli(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
