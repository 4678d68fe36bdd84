// Statistics of heads as figures: a grid of layers and heads, and the kinds of heads.
#pragma once

#include <string>

#include "fovea/capture/site.h"
#include "fovea/explain/corpus_statistics.h"
#include "fovea/figure/map_data.h"

namespace fovea {

// One number of every head as a picture of layers x heads. The caption can name the heads of each
// kind, where no table stands beside it.
MatrixFigure statistics_figure(const CorpusStatistics& statistics, SiteKind site,
                               const std::string& model, const HeadMetric& metric,
                               bool names_kinds);

// How many heads of which kind there are, and which.
TableFigure kinds_table(const CorpusStatistics& statistics);

// [numbers, layers, heads], of the numbers that were counted.
MapData statistics_data(const CorpusStatistics& statistics, const FigureText& text);

}  // namespace fovea
