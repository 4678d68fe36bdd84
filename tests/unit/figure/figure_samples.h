// Small fixed figures, one of each kind, with glyphs of the shipped font only.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fovea/figure/figure.h"

namespace fovea::samples {

inline constexpr float kForbidden = std::numeric_limits<float>::quiet_NaN();

// Words of a text with one space between; [X] is a special position without text.
inline Axis words(const std::vector<std::string>& names, const std::string& axis_name = "tokens") {
  Axis axis{.name = axis_name};
  for (const std::string& name : names) {
    Position position{.text = name};
    if (name.starts_with('[')) {
      position.special = true;
    } else {
      if (!axis.source.empty()) axis.source += ' ';
      position.source_begin = static_cast<int64_t>(axis.source.size());
      axis.source += name;
    }
    position.source_end = static_cast<int64_t>(axis.source.size());
    if (position.special) position.source_begin = position.source_end;
    axis.positions.push_back(position);
  }
  return axis;
}

// Rows that sum to one: mostly the neighbour `shift` to the left, a bit the first position.
inline Tensor attention(int64_t rows, int64_t cols, int64_t shift, bool causal) {
  Tensor weights({rows, cols});
  auto matrix = weights.mutable_matrix<float>();
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const auto distance = static_cast<double>(r - shift - c);
      const double score = 2.2 * std::exp(-distance * distance / 2) + (c == 0 ? 1.2 : 0) +
                           0.5 * std::sin(static_cast<double>(3 * r + 5 * c + shift));
      matrix(r, c) = causal && c > r ? 0 : static_cast<float>(std::exp(score));
      sum += matrix(r, c);
    }
    for (int64_t c = 0; c < cols; ++c) {
      matrix(r, c) = causal && c > r ? kForbidden
                                     : static_cast<float>(static_cast<double>(matrix(r, c)) / sum);
    }
  }
  return weights;
}

inline FigureText text(const std::string& title, const std::string& caption) {
  FigureText result{.title = title, .caption = caption, .metadata = Json::object()};
  result.metadata.set("model", "sample");
  result.metadata.set("layer", 2);
  return result;
}

inline const std::vector<std::string>& sentence() {
  static const std::vector<std::string> all = {"[CLS]", "The", "cat", "sat",  "on",
                                               "the",   "mat", ".",   "[SEP]"};
  return all;
}

inline MatrixFigure matrix() {
  const auto count = static_cast<int64_t>(sentence().size());
  return {.text = text("Self-attention, layer 2, head 1",
                       "Row 2 \"cat\" \u2192 what it attends to \u00b7 layer 2, head 1 \u00b7 "
                       "softmax weight \u00b7 sum 1.00"),
          .rows = words(sentence()),
          .cols = words(sentence()),
          .weights = attention(count, count, 1, /*causal=*/true),
          .scale = {0, 1},
          .chosen_row = 2};
}

inline HeadsFigure heads() {
  HeadsFigure figure{.text = text("Self-attention, layer 2, all heads",
                                  "Every row sums to 1.00 \u00b7 layer 2, heads 0 to 3 \u00b7 "
                                  "softmax weight"),
                     .rows = words(sentence()),
                     .cols = words(sentence()),
                     .panels_across = 2,
                     .scale = {0, 0.8}};
  const auto count = static_cast<int64_t>(sentence().size());
  for (int64_t head = 0; head < 4; ++head) {
    figure.panels.push_back(
        {"head " + std::to_string(head), attention(count, count, head - 1, /*causal=*/head == 3)});
  }
  return figure;
}

inline ReadFigure read() {
  ReadFigure figure{.text = text("What \"chasing\" attends to",
                                 "Row 4 \"chasing\" \u2192 what it attends to \u00b7 layer 2, "
                                 "mean of 4 heads \u00b7 softmax weight \u00b7 sum 1.00"),
                    .axis = words({"[CLS]", "The", "FBI", "is", "chasing", "a", "criminal", "on",
                                   "the", "run", "."}),
                    .weights = {0.21F, 0.05F, 0.38F, 0.12F, 0.14F, 0.1F, kForbidden, kForbidden,
                                kForbidden, kForbidden, kForbidden},
                    .chosen = 4,
                    .scale = {0, 0.4}};
  return figure;
}

// Three words of a causal model, each line as far as its word may look.
inline ReadingFigure reading() {
  const std::vector<std::vector<float>> weights{{1}, {0.3F, 0.7F}, {0.1F, 0.6F, 0.3F}};
  ReadingFigure figure{.text = text("A sentence read word by word",
                                    "Each line is a row: what the marked word attends to \u00b7 "
                                    "layer 2, head 1 \u00b7 softmax weight"),
                       .scale = {0, 0.6}};
  const std::vector<std::string> names{"The", "cat", "sat"};
  for (size_t i = 0; i < names.size(); ++i) {
    figure.lines.push_back(
        {.axis = words({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i) + 1}),
         .weights = weights[i],
         .chosen = static_cast<int64_t>(i),
         .scale = figure.scale});
  }
  return figure;
}

inline LinesFigure lines() {
  LinesFigure figure{.text = text("Self-attention, layer 2, two heads",
                                  "Every row sums to 1.00 \u00b7 layer 2, heads 0 and 1 \u00b7 "
                                  "softmax weight"),
                     .rows = words(sentence()),
                     .cols = words(sentence())};
  const auto count = static_cast<int64_t>(sentence().size());
  figure.heads.push_back({"head 0", attention(count, count, 0, false)});
  figure.heads.push_back({"head 1", attention(count, count, 2, false)});
  return figure;
}

inline StepsFigure steps() {
  StepsFigure figure{.text = text("From a query to its output",
                                  "Row 1 \"cat\" \u2192 what it attends to \u00b7 head 0 \u00b7 "
                                  "softmax weight \u00b7 sum 1.00")};
  const std::vector<std::string> names = {"The", "cat", "sat"};
  const std::vector<std::string> dims = {"0", "1"};
  auto stage = [number = 0](const std::string& name, const std::string& formula,
                            const std::string& explanation, std::vector<std::string> rows,
                            std::vector<std::string> cols, const std::vector<double>& values,
                            bool is_weight) mutable {
    std::vector<std::vector<double>> cells;
    for (size_t r = 0; r < rows.size(); ++r) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(r * cols.size());
      cells.emplace_back(first, first + static_cast<std::ptrdiff_t>(cols.size()));
    }
    NumberTable table = vector_table("", Matrix::from_rows(cells), std::move(rows));
    table.col_labels = std::move(cols);
    if (is_weight) table.shade_to = 1;
    return StepsStage{.number = ++number,
                      .name = name,
                      .formula = formula,
                      .explanation = explanation,
                      .tables = {table}};
  };
  figure.stages = {
      stage("query", "q = x W", "What this word looks for.", {"cat"}, dims, {1.5, -0.5}, false),
      stage("keys", "K = X W", "What each word offers.", names, dims, {0.5, 1, 2, 0.25, -1, 0.75},
            false),
      stage("scores", "s = q K\u1d40 / \u221a2", "The better they match, the larger.", {"cat"},
            names, {0.18, 2.03, -1.33}, false),
      stage("mask", "later words are not allowed", "A word sees itself and what came before.",
            {"cat"}, names, {0.18, 2.03, kForbidden}, false),
      stage("weights", "a = softmax(s)", "Positive, with sum 1.", {"cat"}, names,
            {0.136, 0.864, kForbidden}, true),
      stage("output", "o = a V", "The weighted sum of the values.", {"cat"}, dims, {0.71, -12.4},
            false)};
  return figure;
}

inline AlignFigure align() {
  return {.text = text("Translation, cross-attention",
                       "Rows: target \u00b7 columns: source \u00b7 layer 2, head 1 \u00b7 softmax "
                       "weight \u00b7 every row sums to 1.00"),
          .source = words({"The", "European", "area"}, "source"),
          .target = words({"La", "zone", "europ\u00e9enne"}, "target"),
          .weights = Tensor::from(
              {3, 3}, std::vector<float>{0.8F, 0.1F, 0.1F, 0.1F, 0.2F, 0.7F, 0.05F, 0.75F, 0.2F}),
          .links = {{0, 0}, {1, 2}, {2, 1}},
          .scale = {0, 1}};
}

inline ImageFigure image() {
  ImageFigure figure{
      .text = text("What [CLS] attends to",
                   "Row 0 \"[CLS]\" \u2192 what it attends to \u00b7 layer 2, heads 0 "
                   "and 1 \u00b7 softmax weight over patches"),
      .picture = Picture(32, 24, {150, 190, 230}),
      .panels_across = 3,
      .scale = {0, 0.4}};
  for (int64_t y = 8; y < 20; ++y) {
    for (int64_t x = 10; x < 22; ++x) figure.picture.set(x, y, {200, 110, 50});
  }
  figure.panels.push_back(
      {"head 0",
       Tensor::from({3, 4}, std::vector<float>{0.01F, 0.02F, 0.05F, 0.02F, 0.1F, 0.3F, 0.2F, 0.05F,
                                               0.05F, 0.1F, 0.05F, 0.05F}),
       CellMark{1, 1}});
  figure.panels.push_back(
      {"head 1",
       Tensor::from({3, 4}, std::vector<float>{0.4F, 0.02F, 0.05F, 0.02F, 0.1F, 0.01F, 0.1F, 0.05F,
                                               0.05F, 0.1F, 0.05F, 0.05F}),
       std::nullopt});
  figure.panels[0].note = "half in 3, 90 % in 9 of 12";
  figure.panels[1].note = "half in 2, 90 % in 8 of 12";
  return figure;
}

// Heads of two layers, times even from even on.
inline ImageFigure image_sheet() {
  ImageFigure figure = image();
  figure.text = text("All heads", "Row: what [CLS] attends to \u00b7 layers 0 to 1, 2 heads each");
  figure.layout = ImageLayout::kSheet;
  figure.scale = {1, 8, ScaleCurve::kLog, /*times_even=*/true};
  figure.row_names = {"layer 0", "layer 1"};
  figure.col_names = {"head 0", "head 1"};
  for (size_t i = 0; i < 2; ++i) figure.panels.push_back(figure.panels[i]);
  for (size_t i = 0; i < 4; ++i) {
    figure.panels[i].title = figure.row_names[i / 2] + " \u00b7 " + figure.col_names[i % 2];
    figure.panels[i].chosen = {};
    figure.panels[i].weights = figure.panels[i].weights.clone();
    for (float& weight : figure.panels[i].weights.mutable_values<float>()) {
      weight *= i < 2 ? 12 : 20;
    }
  }
  return figure;
}

// Boxes and an area on the picture, one name inside and one above, without a map.
inline ImageFigure boxes() {
  ImageFigure figure = image();
  figure.text = text("2 objects", "Boxes with their score \u00b7 areas by the mean of 2 heads");
  figure.layout = ImageLayout::kPanels;
  figure.panels.resize(1);
  figure.panels[0] = {
      .title = "objects",
      .weights = {},
      .masks = {{3, 4, {0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0}, 1}},
      .boxes = {{0.02, 0.0, 0.6, 0.5, "cat 0.98", 0}, {0.3, 0.3, 0.7, 0.85, "dog 0.71", 1}}};
  return figure;
}

// Three points around the picture.
inline ImageFigure around() {
  ImageFigure figure = image();
  figure.text = text("What three points attend to", "Rows \u00b7 layer 2, mean of 2 heads");
  figure.layout = ImageLayout::kAround;
  figure.panels[1].chosen = CellMark{0, 0};
  figure.panels.push_back(figure.panels[1]);
  figure.panels[2].chosen = CellMark{2, 3};
  for (size_t i = 0; i < 3; ++i) figure.panels[i].title = "point " + std::to_string(i);
  return figure;
}

inline KernelsFigure kernels() {
  KernelsFigure figure{
      .text = text("Heads as kernels", "Rows attend to columns, by offset \u00b7 layer 0, 2 heads"),
      .panels_across = 2,
      .scale = {0, 0.5}};
  figure.panels.push_back(
      {.title = "head 0",
       .detail = "spread 0.9",
       .weights = Tensor::from(
           {3, 3}, std::vector<float>{0.02F, 0.1F, 0.02F, 0.1F, 0.5F, 0.1F, 0.02F, 0.1F, 0.04F})});
  figure.panels.push_back(
      {.title = "head 1",
       .detail = "spread 0.4",
       .weights = Tensor::from(
           {3, 3}, std::vector<float>{0.02F, 0.02F, 0.02F, 0.02F, 0.1F, 0.45F, 0.02F, 0.05F, 0.3F}),
       .centre_row = 0.3,
       .centre_col = 0.8});
  return figure;
}

inline DotsFigure dots() {
  return {.text = text("How far each head looks",
                       "Rows attend to columns \u00b7 layers 0 to 2, 2 heads"),
          .group_name = "layer",
          .groups = {"0", "1", "2"},
          .series = {"head 0", "head 1"},
          .values = Tensor::from({3, 2}, std::vector<float>{12, 40, 30, 55, 70, 64}),
          .value_name = "mean attention distance, pixels",
          .reference = 61.5,
          .reference_name = "attention spread evenly: 62"};
}

inline CurvesFigure curves() {
  return {
      .text = text("Faithfulness of rollout", "Probability of class cat \u00b7 32 random orders"),
      .panels = {{.title = "deletion: low is good",
                  .detail = "area 0.28, random 0.53 (0.45 to 0.62): better",
                  .way_name = "patches taken away, the most important first",
                  .shares = {0, 0.25, 0.5, 0.75, 1},
                  .values = {0.9, 0.3, 0.15, 0.1, 0.1},
                  .mean = {0.9, 0.7, 0.5, 0.3, 0.1},
                  .low = {0.9, 0.6, 0.35, 0.2, 0.1},
                  .high = {0.9, 0.8, 0.7, 0.45, 0.1}},
                 {.title = "insertion: high is good",
                  .detail = "area 0.71, random 0.50 (0.40 to 0.61): better",
                  .way_name = "patches shown, the most important first",
                  .shares = {0, 0.25, 0.5, 0.75, 1},
                  .values = {0.1, 0.75, 0.85, 0.95, 0.9},
                  .mean = {0.1, 0.3, 0.5, 0.7, 0.9},
                  .low = {0.1, 0.2, 0.35, 0.6, 0.9},
                  .high = {0.1, 0.45, 0.7, 0.8, 0.9}}},
      .value_name = "probability of class cat",
      .curve_name = "rollout",
      .mean_name = "mean of 32 random orders",
      .band_name = "95 % of them"};
}

inline CompositeFigure composite() {
  const float none = std::numeric_limits<float>::quiet_NaN();
  return {.text = text("What [CLS] looks at, by head", "Row: what [CLS] attends to \u00b7 layer 2"),
          .picture = image().picture,
          .owners = Tensor::from(
              {3, 4}, std::vector<float>{none, 0, 0, 1, none, 0, 0, 1, none, none, none, 1}),
          .names = {{"head 0", "33 %", "0"}, {"head 1", "25 %", "1"}}};
}

// Every part that a table can have.
inline TableFigure table() {
  return {.text = text("Methods compared", "3 pictures \u00b7 mean colour in their place"),
          .label_name = "method",
          .columns = {{.name = "deletion", .detail = "low"},
                      {.name = "found"},
                      {.name = "verdict", .words = true}},
          .rows = {{.label = "rollout",
                    .cells = {{.text = "0.29",
                               .mark = "+",
                               .range = "0.21\u20130.33",
                               .tone = TableTone::kStrong},
                              {.text = "0.85", .share = 0.85},
                              {.text = "better"}},
                    .group = "of attention",
                    .marked = true},
                   {.label = "raw",
                    .cells = {{.text = "0.61"},
                              {.text = "0.40", .share = 0.4},
                              {.text = "no better", .tone = TableTone::kMuted}}},
                   {.label = "random", .cells = {{.text = "0.73"}}, .total = true}},
          .notes = {"+ better than random numbers."}};
}

// A table, and two maps side by side.
inline SheetFigure sheet() {
  MatrixFigure before = matrix();
  before.text = {};
  MatrixFigure after = before;
  after.weights = attention(after.weights.size(0), after.weights.size(1), 2, /*causal=*/true);
  TableFigure said{.columns = {{.name = "before"}, {.name = "after"}},
                   .rows = {{.label = "mat",
                             .cells = {{.text = "0.92", .share = 0.92}, {.text = "0.10"}},
                             .group = "next word"}}};
  return {.text = text("A change", "After: cat (2) hidden"),
          .parts = {{"", said}, {"before", before}, {"after", after}}};
}

}  // namespace fovea::samples
