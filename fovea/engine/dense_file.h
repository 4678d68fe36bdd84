// Every map and output of a run as dense tensors, for programs that want the matrices themselves.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fovea/engine/engine.h"

namespace fovea {

// Bytes that write_dense() would write for the maps and outputs.
uint64_t dense_bytes(const RunResult& result);

// float32 tensors SITE [heads, rows, cols] ("self.0") and every output that there is under its name
// in ModelOutputs (last_hidden_state, logits, ...), and in the metadata the model and the tokens.
// Maps are computed while they are written, a block of rows at a time. Throws Error{kIo}.
void write_dense(const RunResult& result, const std::filesystem::path& path);

}  // namespace fovea
