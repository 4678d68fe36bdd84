// ALiBi: scores fall with the distance, by a slope of each head (Press et al. 2022,
// arXiv:2108.12409).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/attention/score_rule.h"
#include "fovea/layers/pass.h"

namespace fovea {

// The paper's slopes: powers of 2^(-8 / heads); of other numbers of heads than powers of two, those
// of the next smaller one, then every other one of the next larger.
std::vector<float> alibi_slopes(int64_t heads);

// The place of every key among those that are not padding; padding has 0.
// The keys of the steps before are among them.
std::vector<int64_t> key_places(const Pass& pass, int64_t tokens,
                                std::span<const int64_t> attention_mask);

// The bias where distances count what is not padding, as BLOOM's do.
ScoreBias alibi_bias(const std::vector<float>& slopes, const Pass& pass, int64_t tokens,
                     std::span<const int64_t> attention_mask);

// A bias that depends on head and key alone, the same for every row: values[head * keys + key].
DenseBias key_bias(const Pass& pass, int64_t heads, int64_t tokens, std::vector<float> values);

}  // namespace fovea
