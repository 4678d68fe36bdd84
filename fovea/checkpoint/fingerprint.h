// A short name for exactly these weights, for captions and files.
#pragma once

#include <string>

#include "fovea/checkpoint/checkpoint.h"

namespace fovea {

// SHA-256 over the configuration and, of every file of weights, its size, its first MiB (which
// holds the names and shapes) and 4 KiB out of each of 256 equal parts: enough to tell models and
// trainings apart, and it reads 2 MiB, not the whole file. The first 16 hexadecimal digits.
std::string fingerprint(const Checkpoint& checkpoint);

}  // namespace fovea
