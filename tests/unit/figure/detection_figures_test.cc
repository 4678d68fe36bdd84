// What a detector found and looks at, as figures.
#include "fovea/figure/detection_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/figure/detection_matrix.h"
#include "fovea/figure/score_split_view.h"
#include "support/errors.h"
#include "unit/figure/grid_runs.h"

namespace fovea {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// Three queries, of which the second found a cat over the middle column and looks at cell 1,1; all
// cells look at cell 0,2.
struct Detected {
  fovea::Run run;
  Picture picture{48, 32, {90, 90, 90}};
  PatchGrid grid = samples::small_grid();
  std::vector<DetectedObject> objects{{.number = 1,
                                       .query = 1,
                                       .label = 17,
                                       .name = "cat",
                                       .score = 0.875,
                                       .box = {16, 0, 32, 32}}};

  Detected() {
    run = {.model = "models/tiny-detr",
           .axes = {samples::grid_axis("cells", false), {.name = "queries"}}};
    run.axes[1].positions.resize(3, {.text = "query"});
    add({SiteKind::kEncoderSelf, 0}, {{2, 2, 2, 2, 2, 2}, {0, 1, 2, 3, 4, 5}}, "cells", "cells");
    add({SiteKind::kCross, 0}, {{0, 4, 0}}, "queries", "cells");
    add({SiteKind::kDecoderSelf, 0}, {{0, 1, 2}}, "queries", "queries");
  }
  void add(SiteId site, const samples::Looks& looks, const char* rows, const char* cols) {
    const auto count = static_cast<int64_t>(run.find_axis(cols)->positions.size());
    AttentionRecord record = support::aimed_record(site, looks, count);
    record.row_axis = rows;
    record.col_axis = cols;
    const Tensor none(record.queries.shape());
    if (site.kind == SiteKind::kEncoderSelf) record.positions = PositionParts{none, none};
    run.records.push_back(std::make_shared<const AttentionRecord>(std::move(record)));
  }
  DetectionScene scene() const { return {run, picture, grid, objects, 0.5}; }
};

TEST(DetectionFigures, AnObjectIsALineOfTheTableAndABox) {
  const Detected made;
  const TableFigure table = objects_table(made.scene());
  EXPECT_EQ(table.text.title, "1 object with a score above 0.5");
  std::vector<std::string> cells{table.rows[0].label};
  for (const TableCell& cell : table.rows[0].cells) cells.push_back(cell.text);
  EXPECT_THAT(cells, ElementsAre("1", "cat", "0.875", "16,0 to 32,32", "1"));
  const ImageBox box = objects_figure(made.scene()).panels[0].boxes[0];
  EXPECT_EQ(box.label, "1 cat 0.88");
  EXPECT_DOUBLE_EQ(box.left, 1.0 / 3);
  EXPECT_DOUBLE_EQ(box.bottom, 1);
  EXPECT_EQ(made.scene().cell_name(made.scene().centre_cell(made.objects[0])), "cell 1,1");
}

TEST(DetectionFigures, AreasAreAsLargeAsThePicture) {
  const Detected made;
  PixelMask mask(48, 32);
  mask.pixels[0] = 1;
  const ImageFigure figure = masks_figure(made.scene(), {{"own", {mask}}}, "layer 0, 1 head");
  EXPECT_EQ(figure.panels[0].masks[0].cols, 48);
  EXPECT_EQ(figure.panels[0].masks[0].cells, mask.pixels);
  EXPECT_THAT(figure.text.caption, HasSubstr("layer 0, 1 head"));
}

TEST(DetectionFigures, MapsOfQueriesAndCellsSayWhoseTheyAre) {
  const Detected made;
  const LineMaps queries = query_maps(made.scene(), made.run.records[1], {}, {});
  EXPECT_EQ(queries.figure.panels[0].title, "1 cat, query 1");
  EXPECT_NEAR(queries.figure.panels[0].weights.matrix<float>()(1, 1), 1, 1e-5);
  const LineMaps column = cell_maps(made.scene(), made.run.records[0], {}, 2, true);
  EXPECT_THAT(column.figure.text.title, EndsWith("who looks at cell 0,2"));
  EXPECT_NEAR(column.sums[0], 6, 1e-4);
  EXPECT_NEAR(column.sums[1], 1, 1e-4);
  EXPECT_DOUBLE_EQ(column.uniform, 1);
  const LineMaps points = point_maps(made.scene(), made.run.records[0], {}, {{3, "at 1,2"}}, false);
  EXPECT_EQ(points.figure.layout, ImageLayout::kAround);
  EXPECT_EQ(points.figure.panels[0].chosen->row, 1);
}

TEST(DetectionFigures, ColoursOfLargeMapsEndBelowTheLargestWeight) {
  std::string note;
  std::vector<float> weights(20'000, 0.1F);
  weights[7] = 1;
  EXPECT_FLOAT_EQ(static_cast<float>(visible_scale(weights, note).high), 0.1F);
  EXPECT_THAT(note, HasSubstr("colours end at 0.1, the largest weight is 1"));
  EXPECT_DOUBLE_EQ(visible_scale({0.5F, 1}, note).high, 1);
}

TEST(DetectionMatrices, AreBetweenTheQueriesOfObjectsOrAll) {
  Detected made;
  const MatrixFigure one = between_figure(made.scene(), made.run.records[2], {});
  EXPECT_EQ(one.rows.positions[0].text, "1 cat");
  EXPECT_NEAR(one.weights.matrix<float>()(0, 0), 1, 1e-5);
  EXPECT_THAT(one.text.caption, HasSubstr("2 queries that found nothing"));
  made.objects.clear();
  EXPECT_EQ(between_heads_figure(made.scene(), made.run.records[2]).panels[0].weights.shape(),
            (Shape{3, 3}));
}

TEST(ScoreSplitFigure, SaysWhichTermsMakeUpTheScore) {
  const Detected made;
  const CellPair pair = split_pair(made.scene(), made.run.records[0], {}, 3, 2);
  EXPECT_EQ(pair.strongest().head, 0);
  const Tensor terms = term_values(pair);
  EXPECT_THAT(std::vector<float>(terms.matrix<float>().row(0), terms.matrix<float>().row(0) + 5),
              ElementsAre(15, 0, 0, 0, 15));
  const StepsFigure figure = why_figure(made.scene(), pair);
  EXPECT_THAT(figure.text.title, EndsWith("why cell 1,0 looks at cell 0,2"));
  ASSERT_EQ(figure.stages.size(), 3U);
  EXPECT_NEAR(figure.stages[1].tables[0].values(0, 0), 100, 1e-3);
  EXPECT_THAT(figure.stages[2].explanation, HasSubstr("6 of 6 dimensions"));
  ASSERT_TRUE(figure.picture);
  EXPECT_EQ(figure.picture->panels[0].boxes[0].label, "cell 0,2");
  EXPECT_THAT(message_of([&] { split_pair(made.scene(), made.run.records[1], {}, 1, 2); }),
              AllOf(HasSubstr("tiny-detr"), HasSubstr("cannot be split")));
}

}  // namespace
}  // namespace fovea
