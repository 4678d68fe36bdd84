// Every kind of figure against a stored picture and a stored drawing, and changes that must show.
// FOVEA_UPDATE_GOLDEN=1 writes the stored ones anew; look at them before they are committed.
#include <cairo/cairo.h>
#include <gmock/gmock.h>
#include <png.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "fovea/base/file.h"
#include "support/data.h"
#include "unit/render/figure_samples.h"

namespace fovea {
namespace {

const FigureOptions kOptions{.scale = 1};

struct Pixels {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> bytes;
};

Pixels decode_figure(const std::string& png) {
  png_image reader{};
  reader.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&reader, png.data(), png.size()));
  reader.format = PNG_FORMAT_RGB;
  Pixels pixels{reader.width, reader.height, std::vector<uint8_t>(PNG_IMAGE_SIZE(reader))};
  EXPECT_TRUE(png_image_finish_read(&reader, nullptr, pixels.bytes.data(), 0, nullptr));
  return pixels;
}

// Versions of cairo blend the edges of shapes a little differently: a few levels everywhere, more
// in a handful of corners. A missing full stop changes more than that.
bool same_pixels(const Pixels& a, const Pixels& b) {
  if (a.width != b.width || a.height != b.height) return false;
  constexpr int kLevels = 24;
  constexpr int kCorners = 6;
  int far_off = 0;
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    if (std::abs(a.bytes[i] - b.bytes[i]) > kLevels) ++far_off;
  }
  return far_off <= kCorners;
}

// What is base64 in a drawing depends on the version of zlib; the PNG test looks at its pixels.
std::string without_images(std::string svg) {
  constexpr std::string_view kBegin = "base64,";
  for (size_t at = svg.find(kBegin); at != std::string::npos; at = svg.find(kBegin, at + 1)) {
    const size_t from = at + kBegin.size();
    svg.erase(from, svg.find('"', from) - from);
  }
  return svg;
}

// The same elements, attributes and words; numbers may differ by what printing them rounds off.
bool same_drawing(const std::string& a, const std::string& b) {
  const char* left = a.c_str();
  const char* right = b.c_str();
  while (*left != '\0' && *right != '\0') {
    const bool number = (*left >= '0' && *left <= '9') || *left == '-' || *left == '.';
    char* left_end = nullptr;
    char* right_end = nullptr;
    const double x = number ? std::strtod(left, &left_end) : 0;
    const double y = number ? std::strtod(right, &right_end) : 0;
    if (number && left_end != left && right_end != right) {
      if (std::abs(x - y) > 0.01) return false;
      left = left_end;
      right = right_end;
    } else if (*left++ != *right++) {
      return false;
    }
  }
  return *left == *right;
}

struct Sample {
  std::string name;
  std::function<Figure()> make;
};
void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name;
}

const std::vector<Sample>& all_samples() {
  static const std::vector<Sample> all = {
      {"matrix", [] { return Figure(samples::matrix()); }},
      {"heads", [] { return Figure(samples::heads()); }},
      {"read", [] { return Figure(samples::read()); }},
      {"lines", [] { return Figure(samples::lines()); }},
      {"steps", [] { return Figure(samples::steps()); }},
      {"align", [] { return Figure(samples::align()); }},
      {"image", [] { return Figure(samples::image()); }},
      {"boxes", [] { return Figure(samples::boxes()); }},
      {"around", [] { return Figure(samples::around()); }},
      {"kernels", [] { return Figure(samples::kernels()); }},
      {"dots", [] { return Figure(samples::dots()); }},
      {"curves", [] { return Figure(samples::curves()); }},
      {"composite", [] { return Figure(samples::composite()); }}};
  return all;
}

class Golden : public testing::TestWithParam<Sample> {
 protected:
  std::filesystem::path stored(std::string_view suffix) const {
    return test_data("figures") / (GetParam().name + std::string(suffix));
  }
  static bool updating() { return std::getenv("FOVEA_UPDATE_GOLDEN") != nullptr; }
};

TEST_P(Golden, PictureIsTheStoredOne) {
  const Figure figure = GetParam().make();
  if (updating()) write_figure(stored(".png"), figure, kOptions);
  EXPECT_TRUE(same_pixels(decode_figure(encode_figure(FigureFormat::kPng, figure, kOptions).bytes),
                          decode_figure(read_text_file(stored(".png")))));
}

TEST_P(Golden, DrawingIsTheStoredOne) {
  if (cairo_version() / 100 != CAIRO_VERSION_ENCODE(1, 16, 0) / 100) {
    GTEST_SKIP() << "the stored drawings are in the words of cairo 1.16, not "
                 << cairo_version_string();
  }
  const Figure figure = GetParam().make();
  if (updating()) write_figure(stored(".svg"), figure, kOptions);
  EXPECT_TRUE(
      same_drawing(without_images(encode_figure(FigureFormat::kSvg, figure, kOptions).bytes),
                   without_images(read_text_file(stored(".svg")))));
}

INSTANTIATE_TEST_SUITE_P(Figures, Golden, testing::ValuesIn(all_samples()),
                         [](const auto& test) { return test.param.name; });

// A change that must show in both.
struct Mutation {
  std::string name;
  Figure before;
  Figure after;
};
void PrintTo(const Mutation& mutation, std::ostream* out) {
  *out << mutation.name;
}

template <typename Kind>
Mutation mutated(std::string name, const Kind& before, const std::function<void(Kind&)>& change) {
  Kind after = before;
  change(after);
  return {std::move(name), before, after};
}

Tensor transposed(const Tensor& weights) {
  Tensor result({weights.size(1), weights.size(0)});
  for (int64_t r = 0; r < weights.size(0); ++r) {
    for (int64_t c = 0; c < weights.size(1); ++c) {
      result.mutable_matrix<float>()(c, r) = weights.matrix<float>()(r, c);
    }
  }
  return result;
}

Tensor upside_down(const Tensor& weights) {
  Tensor result = weights.clone();
  for (int64_t r = 0; r < weights.size(0); ++r) {
    const float* from = weights.matrix<float>().row(weights.size(0) - 1 - r);
    std::copy_n(from, weights.size(1), result.mutable_matrix<float>().row(r));
  }
  return result;
}

Tensor without_mask(const Tensor& weights) {
  Tensor result = weights.clone();
  for (float& value : result.mutable_values<float>()) value = std::isnan(value) ? 0 : value;
  return result;
}

Tensor with_value(const Tensor& weights, size_t index, float value) {
  Tensor result = weights.clone();
  result.mutable_values<float>()[index] = value;
  return result;
}

std::vector<Mutation> matrix_mutations() {
  using F = MatrixFigure;
  const F figure = samples::matrix();
  return {
      mutated<F>("MatrixScaleShifted", figure, [](F& f) { f.scale.high = 0.9; }),
      mutated<F>("MatrixTransposed", figure, [](F& f) { f.weights = transposed(f.weights); }),
      mutated<F>("MatrixRowsFlipped", figure, [](F& f) { f.weights = upside_down(f.weights); }),
      mutated<F>("MatrixRowLabelDropped", figure, [](F& f) { f.rows.positions[7].text = ""; }),
      mutated<F>("MatrixColumnLabelDropped", figure, [](F& f) { f.cols.positions[7].text = ""; }),
      mutated<F>("MatrixMaskIgnored", figure, [](F& f) { f.weights = without_mask(f.weights); }),
      mutated<F>("MatrixOtherRowChosen", figure, [](F& f) { f.chosen_row = 3; }),
      mutated<F>("MatrixOneCell", figure,
                 [](F& f) { f.weights = with_value(f.weights, 27, 0.3F); }),
      mutated<F>("MatrixBarUnnamed", figure, [](F& f) { f.value_name = ""; }),
      mutated<F>("MatrixCaptionCut", figure, [](F& f) { f.text.caption.pop_back(); }),
  };
}

std::vector<Mutation> other_mutations() {
  const HeadsFigure heads = samples::heads();
  const ReadFigure read = samples::read();
  const LinesFigure lines = samples::lines();
  const StepsFigure steps = samples::steps();
  const AlignFigure align = samples::align();
  const ImageFigure image = samples::image();
  const ImageFigure boxes = samples::boxes();
  const ImageFigure around = samples::around();
  return {
      mutated<HeadsFigure>("HeadsScaleShifted", heads, [](auto& f) { f.scale.high = 0.7; }),
      mutated<HeadsFigure>("HeadsSwapped", heads,
                           [](auto& f) { std::swap(f.panels[0].weights, f.panels[1].weights); }),
      mutated<HeadsFigure>("HeadsTitleDropped", heads, [](auto& f) { f.panels[2].title = ""; }),
      mutated<HeadsFigure>(
          "HeadsMaskIgnored", heads,
          [](auto& f) { f.panels[3].weights = without_mask(f.panels[3].weights); }),
      mutated<ReadFigure>("ReadOtherChosen", read, [](auto& f) { f.chosen = 3; }),
      mutated<ReadFigure>("ReadScaleShifted", read, [](auto& f) { f.scale.high = 0.35; }),
      mutated<ReadFigure>("ReadMaskIgnored", read, [](auto& f) { f.weights[7] = 0.0F; }),
      mutated<ReadFigure>("ReadChipDropped", read, [](auto& f) { f.axis.positions[0].text = ""; }),
      mutated<LinesFigure>("LinesLessMass", lines, [](auto& f) { f.mass = 0.7; }),
      mutated<LinesFigure>("LinesTransposed", lines,
                           [](auto& f) { f.heads[1].weights = transposed(f.heads[1].weights); }),
      mutated<LinesFigure>("LinesLabelDropped", lines,
                           [](auto& f) { f.cols.positions[2].text = ""; }),
      mutated<StepsFigure>(
          "StepsOneNumber", steps,
          [](auto& f) { f.stages[2].values = with_value(f.stages[2].values, 1, 2.05F); }),
      mutated<StepsFigure>("StepsFormulaDropped", steps, [](auto& f) { f.stages[2].formula = ""; }),
      mutated<StepsFigure>("StepsMaskIgnored", steps,
                           [](auto& f) { f.stages[4].values = without_mask(f.stages[4].values); }),
      mutated<AlignFigure>("AlignLinkDropped", align, [](auto& f) { f.links.pop_back(); }),
      mutated<AlignFigure>("AlignTransposed", align,
                           [](auto& f) { f.weights = transposed(f.weights); }),
      mutated<ImageFigure>("ImageRing", image,
                           [](auto& f) {
                             f.panels[0].rings.push_back({{1, 1}, 1.2, false});
                           }),
      mutated<ImageFigure>("ImageBadge", image, [](auto& f) { f.text.badge = "3 taken out"; }),
      mutated<KernelsFigure>("KernelsCentreMoved", samples::kernels(),
                             [](auto& f) { f.panels[1].centre_row = -0.5; }),
      mutated<KernelsFigure>("KernelsDetailDropped", samples::kernels(),
                             [](auto& f) { f.panels[0].detail = ""; }),
      mutated<DotsFigure>("DotsReferenceDropped", samples::dots(),
                          [](auto& f) { f.reference.reset(); }),
      mutated<DotsFigure>("DotsOneValue", samples::dots(),
                          [](auto& f) {
                            f.values = f.values.clone();
                            f.values.template mutable_values<float>()[2] = 20;
                          }),
      mutated<CurvesFigure>("CurvesOnePoint", samples::curves(),
                            [](auto& f) { f.panels[0].values[2] = 0.2; }),
      mutated<CurvesFigure>("CurvesBandNarrower", samples::curves(),
                            [](auto& f) { f.panels[1].high[1] = 0.35; }),
      mutated<CurvesFigure>("CurvesMeanMoved", samples::curves(),
                            [](auto& f) { f.panels[1].mean[3] = 0.65; }),
      mutated<CurvesFigure>("CurvesDetailDropped", samples::curves(),
                            [](auto& f) { f.panels[0].detail = ""; }),
      mutated<CompositeFigure>("CompositeOtherOwner", samples::composite(),
                               [](auto& f) {
                                 f.owners = f.owners.clone();
                                 f.owners.template mutable_values<float>()[1] = 1;
                               }),
      mutated<ImageFigure>("ImageSmoothed", image, [](auto& f) { f.smooth = true; }),
      mutated<ImageFigure>("ImageContourMoved", image, [](auto& f) { f.contour_mass = 0.8; }),
      mutated<ImageFigure>("ImageUpsideDown", image,
                           [](auto& f) { f.panels[0].weights = upside_down(f.panels[0].weights); }),
      mutated<ImageFigure>("BoxMoved", boxes, [](auto& f) { f.panels[0].boxes[0].right = 0.5; }),
      mutated<ImageFigure>("BoxNameChanged", boxes,
                           [](auto& f) { f.panels[0].boxes[1].label = "dog 0.77"; }),
      mutated<ImageFigure>("BoxColorChanged", boxes,
                           [](auto& f) { f.panels[0].boxes[1].color = 2; }),
      mutated<ImageFigure>("AreaCellDropped", boxes,
                           [](auto& f) { f.panels[0].masks[0].cells[10] = 0; }),
      mutated<ImageFigure>("PointMoved", around,
                           [](auto& f) {
                             f.panels[2].chosen = CellMark{2, 2};
                           }),
  };
}

std::vector<Mutation> all_mutations() {
  std::vector<Mutation> all = matrix_mutations();
  for (Mutation& mutation : other_mutations()) all.push_back(std::move(mutation));
  return all;
}

class Mutated : public testing::TestWithParam<Mutation> {};

TEST_P(Mutated, ShowsInThePicture) {
  const auto draw = [](const Figure& figure) {
    return decode_figure(encode_figure(FigureFormat::kPng, figure, kOptions).bytes);
  };
  EXPECT_TRUE(same_pixels(draw(GetParam().before), draw(GetParam().before)));
  EXPECT_FALSE(same_pixels(draw(GetParam().before), draw(GetParam().after)));
}

TEST_P(Mutated, ShowsInTheDrawing) {
  const auto draw = [](const Figure& figure) {
    return encode_figure(FigureFormat::kSvg, figure, kOptions).bytes;
  };
  EXPECT_TRUE(same_drawing(draw(GetParam().before), draw(GetParam().before)));
  EXPECT_FALSE(same_drawing(draw(GetParam().before), draw(GetParam().after)));
}

INSTANTIATE_TEST_SUITE_P(Figures, Mutated, testing::ValuesIn(all_mutations()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace fovea
