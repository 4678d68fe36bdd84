// Runs as JSON.
#pragma once

#include "fovea/base/json.h"
#include "fovea/server/run_shelf.h"

namespace fovea {

// For a list: model, input in short, size.
Json run_summary(const OpenRun& run);
// All about it but its numbers: sites, axes, special positions, predictions.
Json run_facts(const OpenRun& run);
// What the mask of a record is: "none", "causal", "window" or "other".
std::string_view mask_kind(const Mask& mask);

}  // namespace fovea
