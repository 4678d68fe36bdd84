// Which part of a long text a reading of one token shows, and what lies outside of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/capture/words.h"

namespace fovea {

// Of texts with more positions so many are shown.
inline constexpr int64_t kLongestRead = 400;
inline constexpr int64_t kReadWindow = 257;

// The positions to show around one of them; all of a short text. `weights` are those of all
// positions: little is shown of what the mask forbids (NaN) at either end.
PositionGroup read_window(int64_t index, std::span<const float> weights);

// " · outside of what is shown: 34 % of the weight, most on 0 "␣×19" 0.21, 12 "the·2" 0.04"; empty
// where all is shown. `weights` are those of the whole axis, NaN where the mask forbids. Names up
// to three positions that are among the eight largest of all.
std::string outside_note(const Axis& axis, std::span<const float> weights, PositionGroup shown);

}  // namespace fovea
