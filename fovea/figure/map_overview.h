// What a figure of a long map says beside its cells: where its paragraphs begin, which columns
// receive most, how far rows look, and where single strong weights lie.
#pragma once

#include <string>
#include <vector>

#include "fovea/figure/shown_map.h"

namespace fovea {

// A single weight of so much is a needle, and lies so many bins off the diagonal.
inline constexpr double kStrongWeight = 0.3;
inline constexpr int64_t kNeedleDistance = 4;
inline constexpr int64_t kUsualNeedles = 40;
inline constexpr int64_t kNeedlesFrom = 17;  // tokens a bin: what hides a single weight

// The first words of a text's paragraphs, which empty lines part; by position.
struct Paragraph {
  int64_t position = 0;
  std::string words;
};
std::vector<Paragraph> paragraphs_of(const Axis& axis);

// `note` takes what the caption says of rings.
MapOverview map_overview(const Frame& frame, const ShownMap& shown, HeadChoice head,
                         const ViewChoice& choice, std::string& note);

// "7,639 tokens, 510 × 510 bins of 15 × 15", "244 tokens, every weight".
std::string map_subtitle(const Frame& frame, bool words);

// Whether rows see nothing behind their own place, so that the upper right half is free.
bool has_free_corner(const Frame& frame);

}  // namespace fovea
