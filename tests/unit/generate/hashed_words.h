// Models for searches: the scores of the next word are a function of the text so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "fovea/generate/search.h"

namespace fovea::support {

using Text = std::vector<int64_t>;

// Keeps the text of every hypothesis and asks a function for its scores.
class ScoredTexts : public NextWords {
 public:
  using Scores = std::function<std::vector<float>(const Text&)>;
  explicit ScoredTexts(Scores scores) : scores_(std::move(scores)) {}

  Tensor start(std::span<const int64_t> prompt) override {
    history_ = {{Text(prompt.begin(), prompt.end())}};
    return score();
  }
  Tensor step(std::span<const int64_t> parents, std::span<const int64_t> ids) override {
    std::vector<Text> next;
    for (size_t h = 0; h < parents.size(); ++h) {
      next.push_back(history_.back().at(static_cast<size_t>(parents[h])));
      next.back().push_back(ids[h]);
    }
    history_.push_back(std::move(next));
    return score();
  }
  // history()[i][row]: the text, prompt included, that row `row` of step i scored.
  const std::vector<std::vector<Text>>& history() const { return history_; }

 private:
  Tensor score() const {
    std::vector<float> all;
    for (const Text& text : history_.back()) {
      const std::vector<float> row = scores_(text);
      all.insert(all.end(), row.begin(), row.end());
    }
    const auto rows = static_cast<int64_t>(history_.back().size());
    return Tensor::from<float>({rows, static_cast<int64_t>(all.size()) / rows}, all);
  }
  Scores scores_;
  std::vector<std::vector<Text>> history_;
};

inline uint32_t mixed(uint32_t x) {
  for (const uint32_t factor : {0x7FEB352DU, 0x846CA68BU}) x = (x ^ (x >> 16)) * factor;
  return x ^ (x >> 15);
}

// logits_after() of tools/fixtures/make_search_fixture.py, which says why.
inline std::vector<float> hashed_logits(const Text& text, bool coarse) {
  const int64_t before = text.size() > 1 ? text[text.size() - 2] : 0;
  const auto length = static_cast<int64_t>(text.size());
  const uint32_t seed =
      mixed(static_cast<uint32_t>(before * 7919 + text.back() * 104729 + length * 15485863));
  std::vector<float> logits;
  for (uint32_t word = 0; word < 320; ++word) {
    uint32_t bits = mixed(seed + word * 2654435761U) >> 22;
    if (coarse) bits = (bits >> 6) << 6;
    logits.push_back(static_cast<float>(bits * bits) / 65536.0f);
  }
  for (const size_t end : {2U, 3U, 5U}) {
    logits[end] += static_cast<float>(std::min<int64_t>(length, 12)) * 0.25f;
  }
  return logits;
}

}  // namespace fovea::support
