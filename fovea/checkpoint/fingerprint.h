// A short name for exactly these weights, for captions and files.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/base/sha256.h"
#include "fovea/checkpoint/checkpoint.h"

namespace fovea {

// The first 16 hexadecimal digits of a SHA-256. It covers the configuration and, for every file of
// weights, its size, its first MiB (which holds the names and shapes) and 4 KiB from each of 256
// equal parts. That tells models and trainings apart but reads only 2 MiB, not the whole file.
std::string fingerprint(const Checkpoint& checkpoint);

// Adds a file to a checksum in that way: whole if it is small, otherwise its size and those parts.
void add_sampled(Hasher& hasher, const std::filesystem::path& path);

}  // namespace fovea
