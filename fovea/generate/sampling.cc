#include "fovea/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

void validate(const Sampling& sampling) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature)) {
    fail(ErrorKind::kInvalidArgument, "the temperature is {} but must be 0 or more",
         sampling.temperature);
  }
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    fail(ErrorKind::kInvalidArgument, "top-p is {} but must be above 0 and at most 1",
         sampling.top_p);
  }
}

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling), random_(sampling.seed) {
  validate(sampling);
}

// std::uniform_real_distribution may differ between libraries; this does not.
double Sampler::uniform() {
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

int64_t Sampler::operator()(std::span<const float> logits) {
  FOVEA_ASSERT(!logits.empty());
  if (!std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); })) {
    fail(ErrorKind::kBadFile,
         "the model's scores of the next word are not all finite; its weights are "
         "damaged");
  }
  const auto best = std::max_element(logits.begin(), logits.end());
  if (sampling_.temperature == 0) return best - logits.begin();

  struct Word {
    double weight;
    int64_t index;
  };
  std::vector<Word> words;
  words.reserve(logits.size());
  double total = 0;
  for (const float logit : logits) {
    const double weight =
        std::exp((static_cast<double>(logit) - static_cast<double>(*best)) / sampling_.temperature);
    total += weight;
    words.push_back({weight, static_cast<int64_t>(words.size())});
  }
  if (sampling_.top_p < 1) {
    std::sort(words.begin(), words.end(), [](const Word& a, const Word& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.index < b.index;
    });
    double kept = 0;
    size_t count = 0;
    while (count < words.size() && kept < sampling_.top_p * total) kept += words[count++].weight;
    words.resize(std::max<size_t>(count, 1));
    total = kept;
  }
  double left = uniform() * total;
  for (const Word& word : words) {
    left -= word.weight;
    if (left < 0) return word.index;
  }
  return words.back().index;
}

}  // namespace fovea
