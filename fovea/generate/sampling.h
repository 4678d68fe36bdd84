// From scores of words to the next word.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace fovea {

// How the next word is chosen.
struct Sampling {
  double temperature = 0;  // 0: always the best one
  double top_p = 1;        // of the most probable words, as many as together have this probability
  uint64_t seed = 0;
};

// Throws Error{kInvalidArgument} unless temperature >= 0 and 0 < top_p <= 1.
void validate(const Sampling& sampling);

// The same seed and scores give the same words on every machine.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling);
  // An index into `logits`; of equal best ones the first. `logits` must not be empty.
  int64_t operator()(std::span<const float> logits);

 private:
  double uniform();  // in [0, 1)
  Sampling sampling_;
  std::mt19937_64 random_;
};

}  // namespace fovea
