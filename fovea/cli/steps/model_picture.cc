// The weights of a picture's patches over the picture.
#include <algorithm>

#include "fovea/cli/draw/draw.h"
#include "fovea/cli/steps/model.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

constexpr int kPictureIndent = 4;  // as all stages have
constexpr int kWidest = 76;

}  // namespace

ImageFigure model_steps_picture(const ModelStepsView& view) {
  const auto grid = static_cast<size_t>(view.cols.grid_rows * view.cols.grid_cols);
  const std::vector<double>& all = view.steps.weights;
  const std::vector<float> weights(all.end() - static_cast<std::ptrdiff_t>(grid), all.end());
  ImagePanel panel{
      .title = "weights",
      .weights = Tensor::from<float>({view.cols.grid_rows, view.cols.grid_cols}, weights)};
  const int64_t front = view.steps.shape.cols - static_cast<int64_t>(grid);
  if (view.rows.grid_rows > 0 && view.steps.row >= front) {
    const int64_t patch = view.steps.row - front;
    panel.chosen = CellMark{patch / view.cols.grid_cols, patch % view.cols.grid_cols};
  }
  ImageFigure figure;
  figure.picture = seen_part(view.picture->picture, view.picture->grid);
  figure.panels = {std::move(panel)};
  figure.panels_across = 2;
  figure.scale = {0, std::max(double{*std::ranges::max_element(weights)}, 1e-30)};
  return figure;
}

std::string model_steps_picture_text(const ModelStepsView& view, const Terminal& terminal) {
  Terminal inner = terminal;
  inner.width = std::min(terminal.width - kPictureIndent, kWidest);
  const std::string text = draw(model_steps_picture(view), inner, color_map("inferno"));
  // Without the empty lines of a title and a caption.
  const size_t begin = text.find_first_not_of('\n');
  const size_t end = text.find_last_not_of('\n') + 1;
  std::string indented;
  for (size_t at = begin; at < end;) {
    const size_t next = std::min(end, text.find('\n', at));
    if (!indented.empty()) indented += "\n";
    if (next > at) indented += std::string(kPictureIndent, ' ') + text.substr(at, next - at);
    at = next + 1;
  }
  return indented;
}

}  // namespace fovea
