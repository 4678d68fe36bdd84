// Statistics of heads for people and programs: a grid of layers and heads, a list, tables.
#pragma once

#include <string>

#include "fovea/cli/show.h"
#include "fovea/cli/stats_run.h"
#include "fovea/cli/terminal.h"

namespace fovea {

// One number of every head as a picture of layers x heads; all numbers as data.
Content stats_content(const StatsResult& result, const std::string& model,
                      const HeadMetric& metric);

// The heads that are of a kind, below each other: "layer 2 head 5  previous token  0.93".
std::string typed_heads_text(const StatsResult& result, const Terminal& terminal);

// One line per head and a column per number.
std::string stats_csv(const StatsResult& result);

}  // namespace fovea
