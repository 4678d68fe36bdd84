// Whole maps of pictures: in parts, and along a path.
#include "fovea/figure/parts_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fovea/figure/cell_path.h"
#include "fovea/figure/hilbert_curve.h"
#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;

// A picture of random attention with `specials` tokens in front of its cells.
struct PictureCase {
  support::AttentionCase c;
  fovea::Run run;
  std::vector<double> weights;  // of the only head, in double
  int64_t specials;

  PictureCase(int64_t rows, int64_t cols, int64_t in_front) : specials(in_front) {
    const int64_t count = rows * cols + in_front;
    c = support::plain_case(count, 8, /*causal=*/false, 11);
    Axis axis{.name = "patches", .grid_rows = rows, .grid_cols = cols};
    for (int64_t i = 0; i < in_front; ++i) {
      axis.positions.push_back({.text = "[CLS]", .special = true});
    }
    for (int64_t i = 0; i < rows * cols; ++i) {
      axis.positions.push_back(
          {.text = "patch " + std::to_string(i / cols) + "," + std::to_string(i % cols)});
    }
    run = {.model = "models/tiny-vit", .axes = {axis}};
    remember();
  }
  void remember() {
    AttentionRecord record = support::record_of(c, {SiteKind::kSelf, 0});
    record.row_axis = record.col_axis = "patches";
    run.records = {std::make_shared<const AttentionRecord>(std::move(record))};
    weights = support::dense_attention(c).weights.front();
  }
  double weight(int64_t i, int64_t j) const {
    return weights[static_cast<size_t>(i * c.shape.cols + j)];
  }
};

// The mean of the rows of a part, over even attention, in double.
double naive_part(const PictureCase& made, const ImageBox& part, int64_t cell, bool column) {
  const Axis& axis = made.run.axes[0];
  double allowed = 0;
  for (int64_t j = 0; j < made.c.shape.cols; ++j) allowed += made.c.rule.mask.allows(0, j) ? 1 : 0;
  double share = 0, even = 0, count = 0;
  for (int64_t r = 0; r < axis.grid_rows; ++r) {
    for (int64_t c = 0; c < axis.grid_cols; ++c) {
      const double down = (double(r) + 0.5) / double(axis.grid_rows);
      const double across = (double(c) + 0.5) / double(axis.grid_cols);
      if (down < part.top || down > part.bottom || across < part.left || across > part.right)
        continue;
      const int64_t one = made.specials + r * axis.grid_cols + c;
      const int64_t i = column ? cell : one, j = column ? one : cell;
      share += made.weight(i, j);
      even += made.c.rule.mask.allows(i, j) ? 1 / allowed : 0;
      ++count;
    }
  }
  return column ? share / even : (share / count) / (even / count);
}

TEST(PartsFigure, IsTheMeanOfThePartsRowsOverEvenAttention) {
  const PictureCase made(24, 37, 1);
  for (const bool column : {false, true}) {
    const ImageFigure figure = parts_figure(made.run, {.column = column}, Picture(37, 24));
    ASSERT_EQ(figure.panels.size(), 64U);
    EXPECT_EQ(figure.panels_across, 8);
    EXPECT_EQ(figure.layout, ImageLayout::kParts);
    EXPECT_EQ(figure.scale.low, 1);
    EXPECT_EQ(figure.scale.high, 32);
    for (const size_t p : {size_t{0}, size_t{13}, size_t{63}}) {
      const auto cells = figure.panels[p].weights.matrix<float>();
      ASSERT_EQ(cells.rows, 24);
      ASSERT_EQ(cells.cols, 37);
      for (int64_t cell = 0; cell < 24 * 37; cell += 29) {
        const double wanted = naive_part(made, *figure.panels[p].part, cell + 1, column);
        EXPECT_NEAR(double{cells(cell / 37, cell % 37)}, wanted, 1e-4 * wanted) << p << " " << cell;
      }
    }
    EXPECT_THAT(figure.text.caption, HasSubstr("over 3 × 4 to 5 of them"));
  }
}

TEST(PartsFigure, EvenAttentionIsOneEverywhereWithPaddingAndInLargeGrids) {
  PictureCase made(9, 150, 0);
  made.c.queries = Tensor(made.c.queries.shape());  // scores of 0
  for (int64_t j = 0; j < 9 * 150; ++j) made.c.rule.mask.key_valid.push_back(j % 150 < 141);
  made.remember();
  for (const bool column : {false, true}) {
    const ImageFigure figure = parts_figure(made.run, {.column = column}, Picture(15, 9));
    ASSERT_EQ(figure.panels.size(), size_t{4 * 8});
    const auto cells = figure.panels[9].weights.matrix<float>();
    ASSERT_EQ(cells.cols, 75) << "two cells together";
    for (int64_t r = 0; r < cells.rows; ++r) {
      for (int64_t c = 0; c < cells.cols; ++c) {
        if (!std::isnan(cells(r, c))) EXPECT_NEAR(cells(r, c), 1, 1e-5) << r << "," << c;
      }
    }
    EXPECT_EQ(std::isnan(cells(0, 74)), !column) << "no row may see padding, but it looks itself";
  }
}

TEST(PartsFigure, SaysWhatItNeeds) {
  fovea::Run text = PictureCase(4, 4, 0).run;
  text.axes[0].grid_rows = text.axes[0].grid_cols = 0;
  EXPECT_THAT(message_of([&] { parts_figure(text, {}, Picture(4, 4)); }),
              HasSubstr("parts are of a picture that attends to itself"));
}

TEST(MatrixView, OfALargePictureFollowsAPathOverItsCells) {
  const PictureCase made(32, 32, 1);
  const MatrixFigure figure = matrix_view(made.run, {.token = "patch 5,9"});
  ASSERT_TRUE(figure.overview && figure.overview->path);
  const std::vector<int64_t> path = hilbert_order(32, 32);
  ASSERT_EQ(figure.weights.shape(), (Shape{257, 257})) << "4 cells a bin, and [CLS]";
  ASSERT_EQ(figure.overview->apart.size(), 1U);
  EXPECT_EQ(figure.overview->apart[0].name, "[CLS]");
  for (const auto& [r, c] : {std::pair<int64_t, int64_t>{0, 0}, {17, 200}, {255, 3}}) {
    double share = 0;
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        share += made.weight(1 + path[size_t(4 * r + i)], 1 + path[size_t(4 * c + j)]) / 4;
      }
    }
    const double wanted = share / (4 / 1025.0);
    EXPECT_NEAR(double{figure.weights.matrix<float>()(r, c)}, wanted, 1e-4 * wanted);
  }
  const auto place = std::ranges::find(path, 5 * 32 + 9) - path.begin();
  EXPECT_EQ(figure.chosen_row, place / 4);
  EXPECT_THAT(figure.text.caption, HasSubstr("cells along a Hilbert curve"));
  EXPECT_THAT(figure.text.caption, HasSubstr("row 170 marked"));
  const PathKey& key = *figure.overview->path;
  EXPECT_EQ(key.section[0], 0);
  EXPECT_EQ(std::ranges::count(key.section, 7), 64);
  EXPECT_EQ(key.section[size_t(path[1023])], 15);
}

TEST(MatrixView, PartsAndCellsOfAPictureKeepTheOrderOfTheModel) {
  const PictureCase made(32, 32, 0);
  const MatrixFigure part =
      matrix_view(made.run, {.rows = AxisPart{600, 1000}, .cols = AxisPart{0, 40}});
  ASSERT_EQ(part.weights.shape(), (Shape{400, 40}));
  EXPECT_NEAR(double{part.weights.matrix<float>()(7, 33)}, made.weight(607, 33) * 1024, 1e-3);
  const MatrixFigure exact = matrix_view(made.run, {.exact = true});
  EXPECT_NEAR(double{exact.weights.matrix<float>()(607, 33)}, made.weight(607, 33), 1e-6);
  EXPECT_FALSE(exact.overview);
}

TEST(HeadsView, OfALargePictureFollowsThePathToo) {
  const PictureCase made(32, 32, 0);
  const HeadsFigure figure = heads_view(made.run, {});
  EXPECT_TRUE(figure.overview);
  EXPECT_EQ(figure.panels[0].weights.shape(), (Shape{64, 64})) << "16 cells a bin";
  const std::vector<int64_t> path = hilbert_order(32, 32);
  double share = 0;
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t j = 0; j < 16; ++j) {
      share += made.weight(path[size_t(32 + i)], path[size_t(640 + j)]) / 16;
    }
  }
  EXPECT_NEAR(double{figure.panels[0].weights.matrix<float>()(2, 40)}, share * 64,
              1e-3 * share * 64);
}

}  // namespace
}  // namespace fovea
