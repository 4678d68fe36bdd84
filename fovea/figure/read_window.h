// Which part of a long text a reading of one token shows, and what lies outside of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/capture/words.h"

namespace fovea {

// Texts of more positions are shown around the token, so many on each side.
inline constexpr int64_t kLongestRead = 400;
inline constexpr int64_t kReadReach = 128;

// The positions to show around one of `count`; all of a short text. At the ends of the text the
// part is as long as elsewhere.
PositionGroup read_window(int64_t index, int64_t count);

// " · outside of what is shown: 34 % of the weight, most on 0 "␣×19" 0.21, 12 "the·2" 0.04"; empty
// where all is shown. `weights` are those of the whole axis, NaN where the mask forbids. Names up
// to three positions that are among the eight largest of all.
std::string outside_note(const Axis& axis, std::span<const float> weights, PositionGroup shown);

}  // namespace fovea
