// What a row of a map leaves out: what goes to the sink, and which experts its token took
// afterwards.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "fovea/capture/run.h"

namespace fovea {

// 1 minus the sum of the row's weights, where a part of each row goes to a sink beside the keys
// (gpt-oss). NaN are cells that the mask forbids.
std::optional<double> sink_share(const AttentionRecord& record, std::span<const float> weights);

// " · 12 % goes to the sink", or nothing.
std::string sink_note(std::optional<double> share);
// " · then expert 3 (61 %) and 5 (39 %) of 8" for a token of a layer with experts, or nothing.
std::string expert_note(const Run& run, SiteId site, int64_t token);

}  // namespace fovea
