// Statistics of heads as figures and as arrays.
#include "fovea/figure/statistics_view.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fovea {
namespace {

// Two layers of two heads; head 1.0 goes on as the text did, the others at nothing that stands
// out.
CorpusStatistics few_heads() {
  CorpusStatistics statistics;
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<HeadSums> heads(2);
    for (HeadSums& head : heads) {
      head.rows = 10;
      head.entropy = 5 + layer;
      head.pattern_total = 10;
    }
    if (layer == 1) heads[0].induction = 9;
    statistics.add({SiteKind::kSelf, layer}, heads);
  }
  statistics.end_input();
  return statistics;
}

TEST(StatisticsView, OneNumberOfEveryHeadIsAGridOfLayersAndHeads) {
  const CorpusStatistics statistics = few_heads();
  const HeadMetric& metric = head_metrics().front();
  const MatrixFigure figure =
      statistics_figure(statistics, SiteKind::kSelf, "models/tiny", metric, true);
  EXPECT_EQ(figure.weights.shape(), (Shape{2, 2}));
  EXPECT_FLOAT_EQ(figure.weights.matrix<float>()(1, 0), 0.6F);
  EXPECT_EQ(figure.text.title, "tiny · self-attention · entropy of every head");
  EXPECT_NE(figure.text.caption.find("kinds of heads, as layer.head: "), std::string::npos);
  EXPECT_NE(figure.text.caption.find("induction 1.0"), std::string::npos);
  const MatrixFigure beside_a_table =
      statistics_figure(statistics, SiteKind::kSelf, "models/tiny", metric, false);
  EXPECT_EQ(beside_a_table.text.caption.find("kinds of heads"), std::string::npos);
}

TEST(StatisticsView, KindsOfHeadsAreATableAndNumbersAnArray) {
  const CorpusStatistics statistics = few_heads();
  const TableFigure table = kinds_table(statistics);
  const auto row = std::ranges::find(table.rows, "induction", &TableRow::label);
  ASSERT_NE(row, table.rows.end());
  EXPECT_EQ(row->cells.front().text, "1");
  const MapData data = statistics_data(statistics, {.caption = "said"});
  // Those that were counted: no sink, no distance.
  EXPECT_EQ(data.weights.shape(), (Shape{static_cast<int64_t>(data.panels.size()), 2, 2}));
  EXPECT_EQ(data.panels.front(), "entropy");
  EXPECT_EQ(std::ranges::count(data.panels, "sink"), 0);
  EXPECT_EQ(data.text.caption, "said");
}

}  // namespace
}  // namespace fovea
