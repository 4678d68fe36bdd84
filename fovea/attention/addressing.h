// Reading a memory by content. Hard addressing fetches the value under the best key; soft
// addressing mixes all values by how well their keys fit. Attention is soft addressing; as the
// temperature goes to 0 the two become one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/attention/similarity.h"

namespace fovea {

// Slot s holds the value values.row(s) under the key keys.row(s).
struct KeyValueMemory {
  Matrix keys;
  Matrix values;
};

// What one query reads from the memory.
struct MemoryReading {
  std::vector<double> scores;   // one per slot
  std::vector<double> weights;  // one per slot, together 1
  std::vector<double> value;    // sum over slots of weight * value
};

// The slot whose key scores highest; the first of several.
int64_t best_slot(std::span<const double> scores);

// Puts all weight on best_slot. Throws Error{kInvalidArgument} unless the memory has slots, as many
// keys as values, and keys that can be compared with the query.
MemoryReading read_hard(const KeyValueMemory& memory, std::span<const double> query,
                        const Similarity& similarity = DotProduct{});
// Weights are softmax(scores / temperature); temperature 0 is read_hard. Throws as above, and on a
// temperature that is negative or not finite.
MemoryReading read_soft(const KeyValueMemory& memory, std::span<const double> query,
                        const Similarity& similarity = DotProduct{}, double temperature = 1);

}  // namespace fovea
