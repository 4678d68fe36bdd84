// A short name for exactly these weights, for captions and files.
#pragma once

#include <string>

#include "fovea/checkpoint/checkpoint.h"

namespace fovea {

// The first 16 hexadecimal digits of a SHA-256. It covers the configuration and, for every file of
// weights, its size, its first MiB (which holds the names and shapes) and 4 KiB from each of 256
// equal parts. That tells models and trainings apart but reads only 2 MiB, not the whole file.
std::string fingerprint(const Checkpoint& checkpoint);

}  // namespace fovea
