// How much memory this process and the machine have, as the system counts it.
#pragma once

#include <cstdint>
#include <optional>

namespace fovea {

// The most memory that this process ever used, including its program and mapped files. None if the
// system does not say.
std::optional<uint64_t> peak_memory_bytes();

// How much memory is free to use without taking any from other programs. None if the system does
// not say.
std::optional<uint64_t> available_memory_bytes();

}  // namespace fovea
