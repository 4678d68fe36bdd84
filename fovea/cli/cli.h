// The program: finds the verb, runs it, and turns every way to fail into one line and an exit code.
#pragma once

#include <string>
#include <vector>

namespace fovea {

// `arguments` are those after the program's name. 0: ok; 1: failed; 2: wrong usage. Never throws.
int run_cli(const std::vector<std::string>& arguments) noexcept;

}  // namespace fovea
