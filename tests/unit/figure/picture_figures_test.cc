// The heads and layers of a picture model as figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/figure/head_shapes.h"
#include "fovea/figure/object_view.h"
#include "fovea/figure/owner_area.h"
#include "fovea/figure/picture_layers.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/view_frame.h"
#include "support/errors.h"
#include "unit/figure/figure_samples.h"
#include "unit/figure/grid_runs.h"

namespace fovea {
namespace {

using samples::at_themselves;
using samples::patch_run;
using samples::small_grid;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kSharp = 1e-5;  // what heads that are told where to look leave to the rest

const Picture& grey_picture() {
  static const Picture picture(48, 32, {90, 90, 90});
  return picture;
}

// [CLS] looks at patch 1,1 in head 0 and at patch 0,0 in head 1.
fovea::Run two_heads() {
  std::vector<int64_t> first = at_themselves(), second = at_themselves();
  first[0] = 5;
  second[0] = 1;
  return patch_run({{first, second}});
}

TEST(PictureView, IsAPanelForEachHeadOverThePatches) {
  const fovea::Run run = two_heads();
  const PatchMaps maps = patch_maps(run, {});
  EXPECT_EQ(maps.query, "[CLS]");
  ASSERT_EQ(maps.maps.size(), 2U);
  EXPECT_NEAR(maps.maps[0].weights[4], 1, kSharp);
  EXPECT_NEAR(maps.maps[1].on_patches, 1, kSharp);
  const ImageFigure figure = picture_view(run, maps, {}, grey_picture(), small_grid());
  EXPECT_THAT(figure.text.title, EndsWith("seen from [CLS]"));
  EXPECT_THAT(figure.text.caption, HasSubstr("Row: what [CLS] attends to · layer 0, 2 heads"));
  EXPECT_EQ(figure.panels_across, 3);
  EXPECT_NEAR(figure.panels[1].weights.matrix<float>()(0, 0), 1, kSharp);
  EXPECT_THAT(message_of([&] { patch_maps(run, {.token = "[REG 1]"}); }), HasSubstr("[CLS]"));
}

TEST(PictureView, WhoLooksAtAPatchIsAColumn) {
  const fovea::Run run = two_heads();
  const PictureChoice choice{.head = {.kind = HeadChoice::Kind::kOne}, .patch = 4, .column = true};
  const PatchMaps maps = patch_maps(run, choice);
  EXPECT_NEAR(maps.maps[0].sum, 2, kSharp);  // [CLS] and itself
  const ImageFigure figure = picture_view(run, maps, choice, grey_picture(), small_grid());
  EXPECT_THAT(figure.text.caption, HasSubstr("Column: who attends to patch 1,1 · layer 0, head 0"));
  EXPECT_EQ(figure.panels[0].chosen->row, 1);
  EXPECT_EQ(figure.panels[0].chosen->col, 1);
}

TEST(PictureLayers, APatchBelongsToTheHeadThatIsStrongestThere) {
  const fovea::Run run = two_heads();
  const Composite composite = composite_of(run, {}, 0.9);
  EXPECT_DOUBLE_EQ(composite.owned(0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(composite.covered(1), 1.0 / 6);
  const CompositeFigure figure = composite_figure(run, composite, grey_picture(), small_grid());
  const auto owners = figure.owners.matrix<float>();
  EXPECT_EQ(owners(1, 1), 0);
  EXPECT_EQ(owners(0, 0), 1);
  EXPECT_TRUE(std::isnan(owners(0, 2)));
  EXPECT_EQ(figure.names[1].detail, "17 %");
  EXPECT_THAT(figure.text.caption, HasSubstr("hold 90 % of its weight"));
}

TEST(PictureLayers, APatchThatSeesItselfHasNoFieldAroundIt) {
  const fovea::Run run = patch_run({{at_themselves()}, {at_themselves()}});
  const PatchFields fields = patch_fields(run, {}, 16);
  EXPECT_EQ(fields.patch, 4);  // in the middle
  ASSERT_EQ(fields.depths.size(), 2U);
  EXPECT_NEAR(fields.depths[1].weights[4], 1, 4 * kSharp);
  const ImageFigure figure = field_figure(run, fields, grey_picture(), small_grid());
  EXPECT_THAT(figure.text.title, EndsWith("what reaches patch 1,1"));
  EXPECT_EQ(figure.panels[1].title, "to layer 1: 0 and 0 px");
  EXPECT_TRUE(figure.panels[0].rings[1].dotted);
}

TEST(OwnerArea, IsTheLargestPartAndACellNearItsMiddle) {
  CompositeFigure figure = samples::composite();
  const float none = samples::kForbidden;
  figure.owners = Tensor::from({3, 3}, std::vector<float>{0, 0, 1, none, 0, 1, 0, 1, 1});
  const OwnerArea area = owner_area(figure, 0);
  EXPECT_EQ(area.largest, 3);  // not the cell at the left below
  EXPECT_EQ(area.marked.row, 0);
  EXPECT_EQ(area.marked.col, 1);
  EXPECT_EQ(area.cells.matrix<float>()(2, 0), 1);
  EXPECT_TRUE(std::isnan(area.cells.matrix<float>()(0, 2)));
}

TEST(HeadShapes, AHeadThatLooksAtItselfIsADotInTheMiddle) {
  const fovea::Run run = patch_run({{at_themselves(), at_themselves()}});
  const HeadKernels heads = head_kernels(run, false, {}, {});
  const KernelsFigure figure = kernels_figure(run, heads);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[1].title, "head 1");
  EXPECT_EQ(figure.panels[1].detail, "spread 0.0 · 100 % inside");
  EXPECT_NEAR(figure.panels[0].weights.matrix<float>()(heads.kernels[0].kernel.radius,
                                                       heads.kernels[0].kernel.radius),
              1, kSharp);
  EXPECT_THAT(figure.text.title, EndsWith("heads as kernels · layer 0"));
}

TEST(HeadShapes, DistancesAreInPixelsBesideThatOfEvenAttention) {
  const fovea::Run run = patch_run({{at_themselves()}});
  const DotsFigure figure = distances_figure(run, DistanceForm::kRenormalised, 16);
  EXPECT_NEAR(figure.values.matrix<float>()(0, 0), 0, 16 * 3 * kSharp);
  // Of the 36 pairs, 14 are one apart, 8 over a corner, 4 two apart, 4 by 1 and 2, and 6 are a
  // patch with itself.
  EXPECT_NEAR(*figure.reference, 16 * (14 + 8 * std::sqrt(2) + 4 * 2 + 4 * std::sqrt(5)) / 36,
              1e-9);
  const DotsFigure keras = distances_figure(run, DistanceForm::kKeras, 16);
  EXPECT_FALSE(keras.reference);
  EXPECT_THAT(keras.text.caption, HasSubstr("a widely copied Keras program"));
}

TEST(ObjectView, IsTheMapTheForegroundAndTheBox) {
  FoundObject object{.method = "LOST",
                     .site = {SiteKind::kSelf, 1},
                     .map = "similar patches",
                     .values = {-1, 0, 0, 0, 3, 1},
                     .seed = 4,
                     .foreground = GridMask({2, 3}),
                     .mask = GridMask({2, 3}),
                     .box = {1, 1, 2, 3}};
  object.foreground.cells = {1, 0, 0, 0, 1, 1};
  object.mask.cells = {0, 0, 0, 0, 1, 1};
  const fovea::Run run = two_heads();
  const ImageFigure figure = object_view(run, object, grey_picture(), small_grid());
  EXPECT_EQ(figure.value_name, "similar patches − minimum");
  EXPECT_EQ(figure.panels[0].weights.matrix<float>()(1, 1), 4);
  EXPECT_DOUBLE_EQ(figure.scale.high, 4);
  EXPECT_EQ(figure.panels[1].masks[0].cells, object.foreground.cells);
  EXPECT_DOUBLE_EQ(figure.panels[2].boxes[0].left, 1.0 / 3);
  EXPECT_DOUBLE_EQ(figure.panels[2].boxes[0].top, 0.5);
  EXPECT_THAT(figure.text.caption, AllOf(HasSubstr("seed: patch 1,1"), HasSubstr("2 of 6")));
}

TEST(PictureTone, ACoverGrowsFromNothingToTheOpacity) {
  EXPECT_DOUBLE_EQ(tint_of(inferno(), 0, 0.9).cover, 0);
  EXPECT_DOUBLE_EQ(tint_of(inferno(), 1, 0.9).cover, 0.9);
  EXPECT_GT(tint_of(inferno(), 0.25, 0.9).cover, 0.4);
  const Rgb grey = quiet(Rgb{100, 100, 100});
  EXPECT_EQ(grey.red, grey.blue);
  EXPECT_GT(grey.red, 100);
  EXPECT_EQ(quiet(grey_picture()).at(3, 4), quiet(Rgb{90, 90, 90}));
  EXPECT_EQ(colors_over(grey_picture(), inferno(), 0.9).at(0), (Rgb{90, 90, 90}));
}

TEST(ViewFrame, FindsRecordsAndScales) {
  const fovea::Run run = patch_run({{at_themselves()}, {at_themselves()}});
  EXPECT_EQ(chosen_record(run, {})->site.layer, 1);
  EXPECT_EQ(chosen_record(run, {.layer = 0})->site.layer, 0);
  EXPECT_THAT(message_of([&] { records_of(run, SiteKind::kCross); }), HasSubstr("it has"));
  EXPECT_DOUBLE_EQ(largest_of(std::vector<float>{samples::kForbidden, 0.5F}), 0.5);
  EXPECT_DOUBLE_EQ(scale_to(0).high, 1);
  const Frame frame = make_frame(run, run.records[0], {}, 1, 4);
  EXPECT_EQ(frame.block, 2);
  EXPECT_EQ(frame.rows.size(), 4);
  EXPECT_EQ(frame.note(false), " · max over blocks of 2 x 2");
  EXPECT_THAT(make_frame(run, run.records[0], {}, 1, 100).note(false), IsEmpty());
}

}  // namespace
}  // namespace fovea
