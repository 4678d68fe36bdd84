// Statistics of heads for people and programs: a grid of layers and heads, kinds of heads, tables.
#pragma once

#include <string>

#include "fovea/cli/show.h"
#include "fovea/cli/stats/run.h"
#include "fovea/cli/terminal.h"

namespace fovea {

// One number of every head as a picture of layers x heads; all numbers as data, in .csv a line for
// each head. The caption can name the heads of each kind.
Content stats_content(const StatsResult& result, const std::string& model, const HeadMetric& metric,
                      bool names_kinds);

// The heads of each kind, as layer.head: "previous token  2  1.3 2.7".
std::string kinds_text(const StatsResult& result, const Terminal& terminal);

}  // namespace fovea
