// Finds the best few of many scores. Equal scores are ordered as torch.topk orders them on a CPU,
// so that a search writes the same text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

struct Scored {
  float score;
  int64_t index;
};

// Keeps the best of a stream of scores; memory is for the kept ones only. Scores must not be NaN.
class TopScores {
 public:
  explicit TopScores(size_t most);
  // For most scores, one comparison is all.
  void offer(float score, int64_t index) {
    if (!full_) {
      fill(score, index);
    } else if (score > kept_.front().score) {
      replace_worst(score, index);
    }
  }
  std::vector<Scored> take();  // best first; nothing is kept then

 private:
  void fill(float score, int64_t index);
  void replace_worst(float score, int64_t index);
  size_t most_;
  bool full_ = false;
  std::vector<Scored> kept_;  // once full a heap with the worst in front
};

// Indices of the best `most` of a few scores, best first.
std::vector<size_t> best_of(std::span<const float> scores, size_t most);

}  // namespace fovea
