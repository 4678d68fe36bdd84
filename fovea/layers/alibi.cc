#include "fovea/layers/alibi.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fovea/layers/attention_cache.h"
#include "fovea/layers/text_mask.h"

namespace fovea {
namespace {

// How many tokens each hypothesis of this pass has.
int64_t tokens_of_each(const Pass& pass, int64_t tokens) {
  return pass.cache == nullptr ? tokens : tokens / pass.cache->hypotheses();
}

// Whether padding stands between tokens: then distances are not those of the places.
bool has_holes(std::span<const int64_t> mask) {
  const auto first = std::ranges::find_if(mask, [](int64_t entry) { return entry != 0; });
  const auto hole = std::find(first, mask.end(), 0);
  return std::any_of(hole, mask.end(), [](int64_t entry) { return entry != 0; });
}

}  // namespace

std::vector<float> alibi_slopes(int64_t heads) {
  const auto powers = [](double of, int64_t begin, int64_t step, int64_t count) {
    const auto base = static_cast<float>(std::exp2(-8 / of));
    std::vector<float> slopes;
    for (int64_t i = 0; i < count; ++i) {
      slopes.push_back(std::pow(base, static_cast<float>(begin + i * step)));
    }
    return slopes;
  };
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<float> slopes = powers(static_cast<double>(below), 1, 1, below);
  const std::vector<float> more = powers(2 * static_cast<double>(below), 1, 2, heads - below);
  slopes.insert(slopes.end(), more.begin(), more.end());
  return slopes;
}

std::vector<int64_t> key_places(const Pass& pass, int64_t tokens,
                                std::span<const int64_t> attention_mask) {
  std::vector<int64_t> places(
      static_cast<size_t>(first_position(pass) + tokens_of_each(pass, tokens)));
  int64_t count = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const bool counts = attention_mask.empty() || attention_mask[i] != 0;
    if (counts) ++count;
    places[i] = counts ? count - 1 : 0;
  }
  return places;
}

ScoreBias alibi_bias(const std::vector<float>& slopes, const Pass& pass, int64_t tokens,
                     std::span<const int64_t> attention_mask) {
  if (!has_holes(attention_mask)) return AlibiSlopes{slopes};
  std::vector<float> values;
  const std::vector<int64_t> places = key_places(pass, tokens, attention_mask);
  for (const float slope : slopes) {
    for (const int64_t place : places) values.push_back(slope * static_cast<float>(place));
  }
  return key_bias(pass, static_cast<int64_t>(slopes.size()), tokens, std::move(values));
}

DenseBias key_bias(const Pass& pass, int64_t heads, int64_t tokens, std::vector<float> values) {
  const auto keys = static_cast<int64_t>(values.size()) / heads;
  return {.values = Tensor::from<float>({heads, 1, keys}, values),
          .row_index = std::vector<int32_t>(static_cast<size_t>(tokens_of_each(pass, tokens)), 0)};
}

}  // namespace fovea
