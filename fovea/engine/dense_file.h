// Writes every map and output of a run as dense tensors, for programs that want the matrices
// themselves.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fovea/engine/engine.h"

namespace fovea {

// How many bytes of maps and outputs write_dense() would write.
uint64_t dense_bytes(const RunResult& result);

// Writes each map as a float32 tensor SITE [heads, rows, cols] ("self.0"), each output under its
// name in ModelOutputs (last_hidden_state, logits, ...), and the model, the tokens of each axis and
// the axes of each map in the metadata. Computes maps while it writes them, a block of rows at a
// time. Throws Error{kIo}.
void write_dense(const RunResult& result, const std::filesystem::path& path);

}  // namespace fovea
