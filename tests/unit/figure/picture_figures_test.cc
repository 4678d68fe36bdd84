// The heads and layers of a picture model as figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/figure/checks.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/head_shapes.h"
#include "fovea/figure/map_data.h"
#include "fovea/figure/object_view.h"
#include "fovea/figure/owner_area.h"
#include "fovea/figure/picture_layers.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/smooth_places.h"
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
  EXPECT_EQ(figure.panels[1].note, "half in 1, 90 % in 1 of 6");
  EXPECT_EQ(picture_drawing({}).of, MapValue::kTimesEven);
  const PictureChoice even{.drawing = picture_drawing({})};
  const ImageFigure drawn =
      picture_view(run, patch_maps(run, even), even, grey_picture(), small_grid());
  EXPECT_NEAR(drawn.panels[1].weights.matrix<float>()(0, 0), 7, 7 * kSharp);  // of 7 positions
  EXPECT_DOUBLE_EQ(drawn.scale.low, 1);
  EXPECT_DOUBLE_EQ(drawn.scale.high, 8);  // nothing goes beyond it
  EXPECT_THAT(drawn.text.caption,
              HasSubstr("log colours ×1 to ×8, largest ×7 · no colour: even or less"));
  EXPECT_THAT(message_of([&] { patch_maps(run, {.token = "[REG 1]"}); }), HasSubstr("[CLS]"));
}

TEST(PictureView, OfAllLayersIsASheetWithALineForEach) {
  std::vector<int64_t> cls = at_themselves();
  cls[0] = 5;
  const fovea::Run run = patch_run({{at_themselves(), cls}, {cls, at_themselves()}});
  const PictureChoice choice{.all_layers = true, .drawing = picture_drawing({})};
  const PatchMaps maps = patch_maps(run, choice);
  EXPECT_EQ(maps.layers, (std::vector<int64_t>{0, 1}));
  const ImageFigure figure = picture_view(run, maps, choice, grey_picture(), small_grid());
  EXPECT_EQ(figure.layout, ImageLayout::kSheet);
  EXPECT_EQ(figure.row_names, (std::vector<std::string>{"layer 0", "layer 1"}));
  EXPECT_EQ(figure.col_names, (std::vector<std::string>{"head 0", "head 1"}));
  ASSERT_EQ(figure.panels.size(), 4U);
  EXPECT_EQ(figure.panels[2].title, "layer 1 · head 0");
  EXPECT_NEAR(figure.panels[2].weights.matrix<float>()(1, 1), 7, 7 * kSharp);
  EXPECT_THAT(figure.text.caption, HasSubstr("layers 0 to 1, 2 heads each"));
  ImageFigure wrong = figure;
  wrong.row_names.pop_back();
  EXPECT_THAT(message_of([&] { check_image(wrong); }), HasSubstr("has 4 panels"));
}

TEST(PictureView, SaysHowTheModelSawAPictureOfAnotherShape) {
  const auto note = [](PictureWindow window) {
    return seen_note(PatchGrid::of_patches(window, 16));
  };
  EXPECT_THAT(note({{224, 224}, {224, 224}, {224, 224}}), IsEmpty());
  EXPECT_THAT(note({{640, 430}, {320, 208}, {320, 208}}), IsEmpty());  // whole patches
  EXPECT_EQ(note({{451, 300}, {224, 224}, {224, 224}}), " · squashed to 224 × 224 for the model");
  EXPECT_EQ(note({{450, 300}, {384, 256}, {224, 224}, 80, 16}),
            " · cropped to the middle 224 × 224 of 384 × 256 for the model");
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
  EXPECT_EQ(figure.panels[1].title, "to layer 1");
  EXPECT_NEAR(figure.panels[1].weights.matrix<float>()(1, 1), 7, 28 * kSharp);  // times even
  EXPECT_DOUBLE_EQ(figure.scale.low, 1);
  EXPECT_THAT(figure.text.caption, HasSubstr("radius that holds 50 %: 0, 0 pixels"));
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
              6, 6 * kSharp);  // times even
  const MapData numbers = data_of(figure);
  const int64_t middle = heads.kernels[0].kernel.radius;
  EXPECT_NEAR(numbers.weights.matrix<float>(0)(middle, middle), 1, kSharp);
  EXPECT_DOUBLE_EQ(figure.scale.low, 1);
  EXPECT_DOUBLE_EQ(figure.scale.high, 32);
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

TEST(PictureTone, TheGroundIsGreyAndDarkWhateverThePicture) {
  Picture picture(100, 2);
  for (int64_t x = 0; x < 100; ++x) {
    const auto level = static_cast<uint8_t>(100 + x);
    picture.set(x, 0, {level, level, level});
    picture.set(x, 1, {255, 0, level});
  }
  const Picture ground = dark_ground(picture);
  for (int64_t x = 0; x < 100; ++x) {
    for (int64_t y = 0; y < 2; ++y) {
      const Rgb color = ground.at(x, y);
      EXPECT_TRUE(color.red == color.green && color.green == color.blue);
      EXPECT_GE(color.red, 20);   // 0.08
      EXPECT_LE(color.red, 118);  // 0.46
    }
    if (x > 0) {
      EXPECT_GE(ground.at(x, 0).red, ground.at(x - 1, 0).red);
    }
  }
  EXPECT_GT(ground.at(99, 0).red, 110);
  EXPECT_EQ(dark_ground(grey_picture()).at(3, 4), (Rgb{20, 20, 20}));  // not stretched into noise
}

TEST(PictureTone, ACoverGrowsFromNothing) {
  EXPECT_DOUBLE_EQ(tint_of(inferno(), 0, false).cover, 0);
  EXPECT_DOUBLE_EQ(tint_of(inferno(), 0.3, false).cover, 0.86);
  EXPECT_DOUBLE_EQ(tint_of(inferno(), 2, false).cover, 0.86);
  EXPECT_EQ(tint_of(inferno(), 0, false).color, inferno().at(0.4));
  EXPECT_EQ(tint_of(inferno(), 1, false).color, inferno().at(1));
  const ColorMap& signs = color_map("ice-fire");
  EXPECT_DOUBLE_EQ(tint_of(signs, 0.5, true).cover, 0);
  EXPECT_DOUBLE_EQ(tint_of(signs, 0, true).cover, 0.86);
  EXPECT_EQ(tint_of(signs, 0.1, true).color, signs.at(0.1));
  EXPECT_EQ(colors_over_ground(inferno(), false).at(0), (Rgb{69, 69, 69}));
  EXPECT_EQ(colors_over_ground(signs, true).at(0.5).red, 69);
}

ImageFigure of_weights(int64_t rows, int64_t cols, const std::vector<float>& values) {
  ImageFigure figure;
  figure.panels.push_back({.title = "head 0", .weights = Tensor::from({rows, cols}, values)});
  return figure;
}

TEST(Contour, GoesAroundAreasOnly) {
  std::vector<float> values(100, 0.001F);
  for (int64_t r = 2; r < 6; ++r) {
    for (int64_t c = 2; c < 7; ++c) values[static_cast<size_t>(10 * r + c)] = 1;
  }
  const ImageFigure area = of_weights(10, 10, values);
  EXPECT_FALSE(contour_of(area, area.panels[0]).empty());
  EXPECT_THAT(patches_note(area), EndsWith("The line holds half of the weight."));
  std::vector<float> few(100, 0.001F);
  few[5] = few[6] = 1;
  EXPECT_TRUE(contour_of(of_weights(10, 10, few), of_weights(10, 10, few).panels[0]).empty());
  std::vector<float> scattered(100, 0.001F);
  for (size_t i = 0; i < 100; i += 11) scattered[i] = 1;
  const ImageFigure noise = of_weights(10, 10, scattered);
  EXPECT_TRUE(contour_of(noise, noise.panels[0]).empty());
  EXPECT_EQ(patches_note(noise), "10 × 10 patches, one colour each.");
  const ImageFigure even = of_weights(10, 10, std::vector<float>(100, 1));
  EXPECT_TRUE(contour_of(even, even.panels[0]).empty());
  EXPECT_EQ(mass_note(even.panels[0].weights.matrix<float>()), "half in 50, 90 % in 90 of 100");
}

TEST(SmoothPlaces, GoThroughTheCells) {
  const ColorScale scale{1, 32, ScaleCurve::kLog, /*times_even=*/true};
  const Tensor weights =
      Tensor::from({2, 3}, std::vector<float>{1, 2, 32, 0.5F, 64, std::nanf("")});
  const SmoothPlaces places(weights.matrix<float>(), scale);
  EXPECT_NEAR(places.at(0.5, 1.5), place_on(scale, 2), 1e-12);
  EXPECT_NEAR(places.at(0.5, 2.5), 1, 1e-12);
  EXPECT_NEAR(places.at(1.5, 0.5), 0, 1e-12);  // less than even
  EXPECT_NEAR(places.at(1.5, 2.5), 0, 1e-12);  // hidden
  const double between = places.at(0.5, 1.75);
  EXPECT_GT(between, place_on(scale, 2));
  EXPECT_LT(between, 1);
  for (double row = 0; row <= 2; row += 0.1) {
    for (double col = 0; col <= 3; col += 0.1) {
      EXPECT_GE(places.at(row, col), 0);
      EXPECT_LE(places.at(row, col), 1);
    }
  }
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
