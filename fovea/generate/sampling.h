// Chooses the next word from the scores of words.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace fovea {

// How the next word is chosen.
struct Sampling {
  double temperature = 0;  // 0: always the best one
  double top_p = 1;        // take the most probable words up to this probability in all
  uint64_t seed = 0;
};

// Throws Error{kInvalidArgument} unless temperature >= 0 and 0 < top_p <= 1.
void validate(const Sampling& sampling);

// The same seed and scores give the same words on every machine.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling);
  // Chooses an index into `logits`, which must not be empty; of equal best ones the first.
  int64_t operator()(std::span<const float> logits);

 private:
  double uniform();  // in [0, 1)
  Sampling sampling_;
  std::mt19937_64 random_;
};

}  // namespace fovea
