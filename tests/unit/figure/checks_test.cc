#include "fovea/figure/checks.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "fovea/base/error.h"
#include "support/errors.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using testing::HasSubstr;

TEST(Checks, StepsWhoseTablesAreWhole) {
  StepsFigure figure = samples::steps();
  check_steps(figure);
  NumberTable& table = figure.stages[1].tables[0];  // 3 x 2
  table.sums = table.bars = {1, 2, 3};
  table.notes = {"", "", ""};
  table.formats = {NumberFormat::for_weights(), NumberFormat::for_weights()};
  table.backgrounds.resize(6);
  check_steps(figure);
  EXPECT_THAT(message_of([] { check_steps({}); }), HasSubstr("0 steps"));
}

TEST(Checks, EveryListOfATableHasItsSize) {
  const auto refused = [](const std::function<void(NumberTable&)>& change) {
    StepsFigure figure = samples::steps();
    change(figure.stages[1].tables[0]);
    return message_of([&] { check_steps(figure); });
  };
  EXPECT_THAT(refused([](NumberTable& t) { t.row_labels.pop_back(); }), HasSubstr("2 row names"));
  EXPECT_THAT(refused([](NumberTable& t) { t.col_labels.pop_back(); }),
              HasSubstr("keys has 1 column names for 3 x 2 numbers"));
  EXPECT_THAT(refused([](NumberTable& t) { t.formats.clear(); }), HasSubstr("0 formats"));
  EXPECT_THAT(refused([](NumberTable& t) { t.formats.resize(3, t.formats[0]); }),
              HasSubstr("3 formats"));
  EXPECT_THAT(refused([](NumberTable& t) { t.sums = {1}; }), HasSubstr("1 sums"));
  EXPECT_THAT(refused([](NumberTable& t) { t.bars = {1, 1}; }), HasSubstr("2 bars"));
  EXPECT_THAT(refused([](NumberTable& t) { t.notes = {"hidden"}; }), HasSubstr("1 notes"));
  EXPECT_THAT(refused([](NumberTable& t) { t.backgrounds.resize(3); }), HasSubstr("3 backgrounds"));
}

TEST(Checks, APictureHasPanelsAndWhatIsChosenLiesInTheGrid) {
  ImageFigure figure = samples::image();
  check_image(figure);
  figure.panels[0].chosen = CellMark{3, 0};
  EXPECT_THAT(message_of([&] { check_image(figure); }), HasSubstr("3,0 is chosen"));
  figure.panels.clear();
  EXPECT_THAT(message_of([&] { check_image(figure); }), HasSubstr("0 panels"));
}

TEST(Checks, NumbersThatAMaskForbidsAreFound) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(
      has_forbidden(Tensor::from<float>({1, 2}, std::vector<float>{0, none}).matrix<float>()));
  EXPECT_FALSE(has_forbidden(Tensor({2, 2}).matrix<float>()));
}

}  // namespace
}  // namespace fovea
