// One figure of each kind by its name, and changes of them that must show: in what is said, in the
// picture and in the drawing.
#pragma once

#include <functional>
#include <ostream>

#include "unit/figure/figure_samples.h"

namespace fovea::samples {

struct Sample {
  std::string name;
  std::function<Figure()> make;
};
inline void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name;
}

inline const std::vector<Sample>& all() {
  static const std::vector<Sample> all = {{"matrix", [] { return Figure(matrix()); }},
                                          {"heads", [] { return Figure(heads()); }},
                                          {"read", [] { return Figure(read()); }},
                                          {"reading", [] { return Figure(reading()); }},
                                          {"lines", [] { return Figure(lines()); }},
                                          {"steps", [] { return Figure(steps()); }},
                                          {"align", [] { return Figure(align()); }},
                                          {"image", [] { return Figure(image()); }},
                                          {"boxes", [] { return Figure(boxes()); }},
                                          {"image_sheet", [] { return Figure(image_sheet()); }},
                                          {"around", [] { return Figure(around()); }},
                                          {"kernels", [] { return Figure(kernels()); }},
                                          {"dots", [] { return Figure(dots()); }},
                                          {"curves", [] { return Figure(curves()); }},
                                          {"composite", [] { return Figure(composite()); }},
                                          {"table", [] { return Figure(table()); }},
                                          {"sheet", [] { return Figure(sheet()); }}};
  return all;
}

// A change that must show in both.
struct Mutation {
  std::string name;
  Figure before;
  Figure after;
};
inline void PrintTo(const Mutation& mutation, std::ostream* out) {
  *out << mutation.name;
}

template <typename Kind>
Mutation mutated(std::string name, const Kind& before, const std::function<void(Kind&)>& change) {
  Kind after = before;
  change(after);
  return {std::move(name), before, after};
}

inline Tensor transposed(const Tensor& weights) {
  Tensor result({weights.size(1), weights.size(0)});
  for (int64_t r = 0; r < weights.size(0); ++r) {
    for (int64_t c = 0; c < weights.size(1); ++c) {
      result.mutable_matrix<float>()(c, r) = weights.matrix<float>()(r, c);
    }
  }
  return result;
}

inline Tensor upside_down(const Tensor& weights) {
  Tensor result = weights.clone();
  for (int64_t r = 0; r < weights.size(0); ++r) {
    const float* from = weights.matrix<float>().row(weights.size(0) - 1 - r);
    std::copy_n(from, weights.size(1), result.mutable_matrix<float>().row(r));
  }
  return result;
}

inline Tensor without_mask(const Tensor& weights) {
  Tensor result = weights.clone();
  for (float& value : result.mutable_values<float>()) value = std::isnan(value) ? 0 : value;
  return result;
}

inline Tensor with_value(const Tensor& weights, size_t index, float value) {
  Tensor result = weights.clone();
  result.mutable_values<float>()[index] = value;
  return result;
}

inline std::vector<Mutation> matrix_mutations() {
  using F = MatrixFigure;
  const F figure = matrix();
  return {
      mutated<F>("MatrixScaleShifted", figure, [](F& f) { f.scale.high = 0.9; }),
      mutated<F>("MatrixTransposed", figure, [](F& f) { f.weights = transposed(f.weights); }),
      mutated<F>("MatrixRowsFlipped", figure, [](F& f) { f.weights = upside_down(f.weights); }),
      mutated<F>("MatrixRowLabelDropped", figure, [](F& f) { f.rows.positions[6].text = ""; }),
      mutated<F>("MatrixColumnLabelDropped", figure, [](F& f) { f.cols.positions[7].text = ""; }),
      mutated<F>("MatrixMaskIgnored", figure, [](F& f) { f.weights = without_mask(f.weights); }),
      mutated<F>("MatrixOtherRowChosen", figure, [](F& f) { f.chosen_row = 3; }),
      mutated<F>("MatrixOneCell", figure,
                 [](F& f) { f.weights = with_value(f.weights, 27, 0.3F); }),
      mutated<F>("MatrixBarUnnamed", figure, [](F& f) { f.value_name = ""; }),
      mutated<F>("MatrixCaptionCut", figure, [](F& f) { f.text.caption.pop_back(); }),
  };
}

inline std::vector<Mutation> other_mutations() {
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
      mutated<ReadingFigure>("ReadingOneWeight", reading(),
                             [](auto& f) { f.lines[2].weights[1] = 0.05F; }),
      mutated<ReadingFigure>("ReadingScaleShifted", reading(), [](auto& f) { f.scale.high = 0.7; }),
      mutated<LinesFigure>("LinesLessMass", lines, [](auto& f) { f.mass = 0.7; }),
      mutated<LinesFigure>("LinesTransposed", lines,
                           [](auto& f) { f.heads[1].weights = transposed(f.heads[1].weights); }),
      mutated<LinesFigure>("LinesLabelDropped", lines,
                           [](auto& f) { f.cols.positions[2].text = ""; }),
      mutated<StepsFigure>("StepsOneNumber", steps,
                           [](auto& f) { f.stages[2].tables[0].values(0, 1) = 2.05; }),
      mutated<StepsFigure>("StepsFormulaDropped", steps, [](auto& f) { f.stages[2].formula = ""; }),
      mutated<StepsFigure>("StepsMaskIgnored", steps,
                           [](auto& f) { f.stages[4].tables[0].values(0, 2) = 0; }),
      mutated<AlignFigure>("AlignLinkDropped", align, [](auto& f) { f.links.pop_back(); }),
      mutated<AlignFigure>("AlignTransposed", align,
                           [](auto& f) { f.weights = transposed(f.weights); }),
      mutated<ImageFigure>("ImageBadge", image, [](auto& f) { f.text.badge = "3 taken out"; }),
      mutated<KernelsFigure>("KernelsOneWeight", kernels(),
                             [](auto& f) {
                               f.panels[1].weights = f.panels[1].weights.clone();
                               f.panels[1].weights.template mutable_values<float>()[0] = 0.2F;
                             }),
      mutated<KernelsFigure>("KernelsDetailDropped", kernels(),
                             [](auto& f) { f.panels[0].detail = ""; }),
      mutated<DotsFigure>("DotsReferenceDropped", dots(), [](auto& f) { f.reference.reset(); }),
      mutated<DotsFigure>("DotsOneValue", dots(),
                          [](auto& f) {
                            f.values = f.values.clone();
                            f.values.template mutable_values<float>()[2] = 20;
                          }),
      mutated<CurvesFigure>("CurvesOnePoint", curves(),
                            [](auto& f) { f.panels[0].values[2] = 0.2; }),
      mutated<CurvesFigure>("CurvesBandNarrower", curves(),
                            [](auto& f) { f.panels[1].high[1] = 0.35; }),
      mutated<CurvesFigure>("CurvesMeanMoved", curves(),
                            [](auto& f) { f.panels[1].mean[3] = 0.65; }),
      mutated<CurvesFigure>("CurvesDetailDropped", curves(),
                            [](auto& f) { f.panels[0].detail = ""; }),
      mutated<SheetFigure>("SheetOtherHeading", sheet(),
                           [](SheetFigure& figure) { figure.parts[1].heading = "first"; }),
      mutated<SheetFigure>("SheetOneLess", sheet(),
                           [](SheetFigure& figure) { figure.parts.pop_back(); }),
      mutated<CompositeFigure>("CompositeOtherOwner", composite(),
                               [](auto& f) {
                                 f.owners = f.owners.clone();
                                 f.owners.template mutable_values<float>()[1] = 1;
                               }),
      mutated<TableFigure>("TableMarkDropped", samples::table(),
                           [](auto& f) { f.rows[0].cells[0].mark = ""; }),
      mutated<TableFigure>("TableShareMoved", samples::table(),
                           [](auto& f) { f.rows[1].cells[1].share = 0.5; }),
      mutated<TableFigure>("TableRuleDropped", samples::table(),
                           [](auto& f) { f.rows[2].total = false; }),
      mutated<ImageFigure>("ImageSmoothed", image, [](auto& f) { f.smooth = true; }),
      mutated<ImageFigure>("ImageContourMoved", image, [](auto& f) { f.contour_mass = 1; }),
      mutated<ImageFigure>("ImageNoteDropped", image, [](auto& f) { f.panels[0].note = ""; }),
      mutated<ImageFigure>("ImageSheetOtherLayer", image_sheet(),
                           [](auto& f) { f.row_names[1] = "layer 7"; }),
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

inline std::vector<Mutation> all_mutations() {
  std::vector<Mutation> all = matrix_mutations();
  for (Mutation& mutation : other_mutations()) all.push_back(std::move(mutation));
  return all;
}

}  // namespace fovea::samples
