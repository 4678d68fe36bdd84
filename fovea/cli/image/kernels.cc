// Heads as the kernels of a convolution.
#include "fovea/cli/image/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/explain/rollout.h"
#include "fovea/render/caption.h"
#include "fovea/render/picture_view.h"
#include "fovea/render/view_frame.h"

namespace fovea {
namespace {

Tensor tensor_of(const Matrix& matrix) {
  Tensor tensor = Tensor::uninitialized({matrix.rows(), matrix.cols()});
  std::ranges::transform(matrix.values(), tensor.mutable_values<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  return tensor;
}

Axis offset_axis(const char* name, int64_t radius) {
  Axis axis{.name = name};
  for (int64_t offset = -radius; offset <= radius; ++offset) {
    axis.positions.push_back({.text = offset == 0 ? "0" : fmt::format("{:+}", offset)});
  }
  return axis;
}

MapData kernels_data(const KernelsFigure& figure) {
  const Tensor& first = figure.panels[0].weights;
  const int64_t side = first.size(0);
  MapData data{.rows = offset_axis("patches down", side / 2),
               .cols = offset_axis("patches right", side / 2),
               .text = figure.text};
  data.weights = Tensor::uninitialized({static_cast<int64_t>(figure.panels.size()), side, side});
  auto out = data.weights.mutable_values<float>().begin();
  for (const KernelPanel& panel : figure.panels) {
    data.panels.push_back(panel.title);
    out = std::ranges::copy(panel.weights.values<float>(), out).out;
  }
  return data;
}

Json kernel_json(const OffsetKernel& kernel) {
  Json json = Json::object();
  json.set("centre_down", kernel.centre_row);
  json.set("centre_right", kernel.centre_col);
  json.set("spread", kernel.spread);
  json.set("inside", kernel.inside);
  json.set("level50", kernel.level50);
  json.set("level90", kernel.level90);
  json.set("queries", kernel.queries);
  return json;
}

KernelOptions kernel_options(const Args& args) {
  KernelOptions options;
  if (args.has("radius")) options.radius = args.integer("radius");
  return options;
}

void check_kernels(const Args& args) {
  layer_choice(args);
}

Content make_kernels(const ImageRun& run) {
  const LayerChoice choice = layer_choice(run.args);
  const SiteKind kind = picture_kind(run.result.run);
  const PictureAxis axis = PictureAxis::of(picture_axis(run.result.run));
  LayerRecords layers = layers_of(run.result.run, kind);
  const auto last = static_cast<int64_t>(layers.size()) - 1;
  if (!choice.all) {
    layers = {chosen_record(run.result.run, {.kind = kind, .layer = choice.layer})};
  }
  std::vector<NamedKernel> kernels;
  for (const auto& record : layers) {
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      const std::string name = fmt::format("head {}", head);
      kernels.push_back(
          {choice.all ? fmt::format("layer {} · {}", record->site.layer, name) : name,
           offset_kernel(AttentionMap(record, head), axis, kernel_options(run.args))});
    }
  }
  const std::string place = choice.all ? fmt::format("layers 0 to {}", last)
                                       : fmt::format("layer {}", layers[0]->site.layer);
  FigureText text{
      .title = title_of(run.result.run, kind, "heads as kernels · " + place),
      .caption = fmt::format(
                     "Rows attend to columns, by offset · {}, {} heads · softmax weight, each row "
                     "divided by what it gives to patches · mean over the {} patches whose whole "
                     "window lies in the picture · spread: root mean square distance from the mean "
                     "offset, in patches · inside: what of the weight the window holds, the sum of "
                     "its cells",
                     place, layers[0]->shape().heads, kernels[0].kernel.queries) +
                 model_note(run.engine),
      .metadata = image_metadata(run)};
  const int64_t heads = layers[0]->shape().heads;
  const int64_t across = choice.all || heads <= 4 ? heads
                         : (heads + 1) / 2 <= 4   ? (heads + 1) / 2
                                                  : 6;
  return kernels_content(kernels, across, std::move(text), {{"site", to_string(layers[0]->site)}});
}

}  // namespace

Content kernels_content(const std::vector<NamedKernel>& kernels, int64_t across, FigureText text,
                        const std::vector<Json::Member>& more) {
  KernelsFigure figure{.text = std::move(text), .panels_across = across};
  figure.text.metadata.set("radius", kernels[0].kernel.radius);
  double largest = 0;
  for (const auto& [title, kernel] : kernels) {
    largest = std::max(largest, std::ranges::max(kernel.weights.values()));
    figure.panels.push_back({.title = title,
                             .detail = fmt::format("spread {:.1f} · {:.0f} % inside", kernel.spread,
                                                   100 * kernel.inside),
                             .weights = tensor_of(kernel.weights),
                             .centre_row = kernel.centre_row,
                             .centre_col = kernel.centre_col});
  }
  figure.scale = scale_to(largest);
  const auto json = [figure, kernels, more] {
    Json all = map_json(kernels_data(figure));
    Json about = Json::array();
    for (const NamedKernel& named : kernels) about.push_back(kernel_json(named.kernel));
    all.set("radius", kernels[0].kernel.radius);
    all.set("kernels", std::move(about));
    for (const auto& [key, value] : more) all.set(key, value);
    return all;
  };
  return {figure, [figure] { return kernels_data(figure); }, json};
}

ImageView image_kernels_view() {
  return {.name = "kernels",
          .summary = "each head as a kernel over relative offsets, as of a convolution",
          .options = {"layer", "radius"},
          .check = check_kernels,
          .make = make_kernels};
}

}  // namespace fovea
