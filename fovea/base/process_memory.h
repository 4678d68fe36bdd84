// Memory of this process and of the machine, as the system counts it.
#pragma once

#include <cstdint>
#include <optional>

namespace fovea {

// The most that this process ever had in memory, its program and mapped files included. None where
// the system does not say.
std::optional<uint64_t> peak_memory_bytes();

// What could be had without taking anything from other programs. None where the system does not
// say.
std::optional<uint64_t> available_memory_bytes();

}  // namespace fovea
