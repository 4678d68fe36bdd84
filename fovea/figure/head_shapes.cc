#include "fovea/figure/head_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/explain/rollout.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/view_frame.h"

namespace fovea {
namespace {

// The cells of each kernel over what even attention gives one.
KernelsFigure figure_of(const std::vector<NamedKernel>& kernels, int64_t across, double even,
                        FigureText text) {
  KernelsFigure figure{.text = std::move(text), .panels_across = across, .even = even};
  figure.text.metadata.set("radius", kernels[0].kernel.radius);
  for (const auto& [title, kernel] : kernels) {
    Tensor weights = as_tensor(kernel.weights);
    for (float& weight : weights.mutable_values<float>()) {
      weight = static_cast<float>(double{weight} / even);
    }
    figure.panels.push_back({.title = title,
                             .detail = fmt::format("spread {:.1f} · {:.0f} % inside", kernel.spread,
                                                   100 * kernel.inside),
                             .weights = std::move(weights),
                             .centre_row = kernel.centre_row,
                             .centre_col = kernel.centre_col});
  }
  return figure;
}

double largest_cell(const KernelsFigure& figure) {
  double largest = 0;
  for (const KernelPanel& panel : figure.panels) {
    largest = std::max(largest, largest_of(panel.weights.values<float>()));
  }
  return largest;
}

// "up left", "itself": where a built head looks.
std::string direction_of(const OffsetKernel& kernel) {
  const auto down = std::lround(kernel.centre_row), right = std::lround(kernel.centre_col);
  std::string words = down < 0 ? "up" : down > 0 ? "down" : "";
  const std::string_view side = right < 0 ? "left" : right > 0 ? "right" : "";
  if (!words.empty() && !side.empty()) words += " ";
  words += side;
  return words.empty() ? "itself" : words;
}

// The mean distance, in patches, of attention that is the same everywhere.
double even_distance(GridShape grid) {
  double sum = 0;
  for (int64_t down = -grid.rows + 1; down < grid.rows; ++down) {
    for (int64_t right = -grid.cols + 1; right < grid.cols; ++right) {
      const auto pairs =
          static_cast<double>((grid.rows - std::abs(down)) * (grid.cols - std::abs(right)));
      sum += pairs * std::hypot(static_cast<double>(down), static_cast<double>(right));
    }
  }
  return sum / std::pow(static_cast<double>(grid.patches()), 2);
}

std::string distances_caption(const DotsFigure& figure, DistanceForm form, int64_t side) {
  std::string text = fmt::format(
      "Rows attend to columns · layers 0 to {}, {} heads · mean over patches of softmax weight "
      "times "
      "distance, in pixels of the model's input, {} to a patch",
      figure.groups.size() - 1, figure.series.size(), side);
  return text + (form == DistanceForm::kKeras
                     ? " · not divided by what lies on patches, as a widely copied Keras program: "
                       "what special tokens receive counts as no distance"
                     : " · each row divided by what it gives to patches");
}

}  // namespace

HeadKernels head_kernels(const Run& run, bool all_layers, std::optional<int64_t> layer,
                         const KernelOptions& options) {
  const SiteKind kind = picture_kind(run);
  const PictureAxis axis = PictureAxis::of(picture_axis(run));
  const LayerRecords layers =
      all_layers ? layers_of(run, kind)
                 : LayerRecords{chosen_record(run, {.kind = kind, .layer = layer})};
  HeadKernels found{
      .site = layers[0]->site, .heads = layers[0]->shape().heads, .all_layers = all_layers};
  for (const auto& record : layers) {
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      const std::string name = fmt::format("head {}", head);
      found.kernels.push_back(
          {all_layers ? fmt::format("layer {} · {}", record->site.layer, name) : name,
           offset_kernel(AttentionMap(record, head), axis, options)});
    }
  }
  return found;
}

KernelsFigure kernels_figure(const Run& run, const HeadKernels& heads) {
  const std::string place =
      heads.all_layers ? fmt::format("layers 0 to {}", layers_of(run, heads.site.kind).size() - 1)
                       : fmt::format("layer {}", heads.site.layer);
  FigureText text{
      .title = title_of(run, heads.site.kind, "heads as kernels · " + place),
      .caption = fmt::format(
          "Rows attend to columns, by offset · {}, {} heads · softmax weight, each row "
          "divided by what it gives to patches · mean over the {} patches whose whole "
          "window lies in the picture · spread: root mean square distance from the mean "
          "offset, in patches · inside: the share of the weight that lies in the window, "
          "the sum of its cells",
          place, heads.heads, heads.kernels[0].kernel.queries),
      .metadata = picture_metadata(run)};
  const int64_t half = (heads.heads + 1) / 2;
  const int64_t across = heads.all_layers || heads.heads <= 4 ? heads.heads : half <= 4 ? half : 6;
  const double even = 1 / static_cast<double>(PictureAxis::of(picture_axis(run)).grid.patches());
  KernelsFigure figure = figure_of(heads.kernels, across, even, std::move(text));
  const double largest = largest_cell(figure);
  figure.scale = even_scale(std::max(largest, kEvenReach));
  figure.scale.above = largest > figure.scale.high;
  figure.text.caption += even_note(figure.scale, largest) + model_note(run);
  return figure;
}

KernelsFigure convolution_figure(const Run& run, const std::vector<NamedKernel>& kernels,
                                 GridShape pixels, double difference) {
  FigureText text{
      .title = "Nine heads that are a 3 × 3 convolution",
      .caption = fmt::format(
          "Built, not learned, after Cordonnier et al. 2020 · scores −{:g} |offset − Δ|², one Δ "
          "for "
          "each head · softmax weight, each row sums to 1.00, mean over {} pixels · with an edge "
          "filter as output weights their sum is that filter's convolution of this picture at {} × "
          "{} pixels: the largest difference inside of the border is {:.1e}",
          kHeadSharpness, kernels[0].kernel.queries, pixels.cols, pixels.rows, difference),
      .metadata = picture_metadata(run)};
  text.metadata.set("sharpness", kHeadSharpness);
  KernelsFigure figure = figure_of(kernels, 3, 1, std::move(text));
  for (size_t i = 0; i < kernels.size(); ++i) {
    figure.panels[i].detail = direction_of(kernels[i].kernel);
  }
  figure.scale = scale_to(round_end(largest_cell(figure)));
  return figure;
}

DotsFigure distances_figure(const Run& run, DistanceForm form, int64_t side) {
  const SiteKind kind = picture_kind(run);
  const PictureAxis axis = PictureAxis::of(picture_axis(run));
  const LayerRecords layers = layers_of(run, kind);
  DotsFigure figure{
      .group_name = "layer",
      .values = as_tensor(attention_distances(layers, axis, static_cast<double>(side), form)),
      .value_name = "mean attention distance, pixels"};
  for (const auto& record : layers) figure.groups.push_back(std::to_string(record->site.layer));
  for (int64_t head = 0; head < figure.values.size(1); ++head) {
    figure.series.push_back(fmt::format("head {}", head));
  }
  figure.text.metadata = picture_metadata(run);
  figure.text.metadata.set("patch_size", side);
  if (form == DistanceForm::kKeras) {
    figure.text.metadata.set("compat", "keras");
  } else {
    figure.reference = static_cast<double>(side) * even_distance(axis.grid);
    figure.reference_name = fmt::format("attention spread evenly: {:.0f}", *figure.reference);
    figure.text.metadata.set("even", *figure.reference);
  }
  figure.text.title = title_of(run, kind, "how far each head looks");
  figure.text.caption = distances_caption(figure, form, side) + model_note(run);
  return figure;
}

}  // namespace fovea
