#include "fovea/attention/addressing.h"

#include <algorithm>

#include "fovea/attention/softmax.h"

namespace fovea {
namespace {

std::vector<double> score_slots(const KeyValueMemory& memory, std::span<const double> query,
                                const Similarity& similarity) {
  if (memory.keys.rows() != memory.values.rows() || memory.keys.rows() == 0) {
    fail(ErrorKind::kInvalidArgument,
         "the memory has {} keys and {} values; give one value for each key, and at least one",
         memory.keys.rows(), memory.values.rows());
  }
  std::vector<double> scores;
  for (int64_t slot = 0; slot < memory.keys.rows(); ++slot) {
    scores.push_back(score(similarity, query, memory.keys.row(slot)));
  }
  return scores;
}

}  // namespace

int64_t best_slot(std::span<const double> scores) {
  return std::ranges::max_element(scores) - scores.begin();
}

MemoryReading read_hard(const KeyValueMemory& memory, std::span<const double> query,
                        const Similarity& similarity) {
  MemoryReading reading{.scores = score_slots(memory, query, similarity)};
  const int64_t slot = best_slot(reading.scores);
  reading.weights.assign(reading.scores.size(), 0.0);
  reading.weights[static_cast<size_t>(slot)] = 1;
  const auto value = memory.values.row(slot);
  reading.value.assign(value.begin(), value.end());
  return reading;
}

MemoryReading read_soft(const KeyValueMemory& memory, std::span<const double> query,
                        const Similarity& similarity, double temperature) {
  MemoryReading reading{.scores = score_slots(memory, query, similarity)};
  reading.weights = softmax(reading.scores, temperature);
  reading.value.assign(static_cast<size_t>(memory.values.cols()), 0.0);
  for (size_t slot = 0; slot < reading.weights.size(); ++slot) {
    const auto value = memory.values.row(static_cast<int64_t>(slot));
    for (size_t c = 0; c < value.size(); ++c) reading.value[c] += reading.weights[slot] * value[c];
  }
  return reading;
}

}  // namespace fovea
