// Statistics of heads for people and programs: a grid of layers and heads, kinds of heads, tables.
#pragma once

#include <string>

#include "fovea/cli/show.h"
#include "fovea/cli/stats/run.h"

namespace fovea {

// One number of every head as a picture of layers x heads; all numbers as data, in .csv a line for
// each head. The caption can name the heads of each kind.
Content stats_content(const StatsResult& result, const std::string& model, const HeadMetric& metric,
                      bool names_kinds);

// How many heads of which kind there are, and which.
TableFigure kinds_table(const StatsResult& result);

}  // namespace fovea
