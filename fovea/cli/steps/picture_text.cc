// The steps of attention over the pixels of a picture, for one of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/cli/steps/writer.h"

namespace fovea {
namespace {

constexpr int64_t kMostVectors = 6;  // the numbers repeat; the picture says more

// The pixels' own colours, if they can be read as such: 1 or 3 channels from 0 to 1 or to 255.
std::vector<Rgb> pixel_colors(const Matrix& pixels) {
  const auto [low, high] = std::ranges::minmax(pixels.values());
  if ((pixels.cols() != 1 && pixels.cols() != 3) || low < 0 || high > 255) return {};
  const double factor = high <= 1 ? 255 : 1;
  std::vector<Rgb> colors;
  for (int64_t i = 0; i < pixels.rows(); ++i) {
    const auto channel = [&](int64_t c) {
      return static_cast<uint8_t>(std::lround(pixels(i, std::min(c, pixels.cols() - 1)) * factor));
    };
    colors.push_back({channel(0), channel(1), channel(2)});
  }
  return colors;
}

void write_inputs(const StepsProblem& problem, int64_t chosen, StepsWriter& writer) {
  const PixelGrid& grid = *problem.grid;
  const Matrix& pixels = problem.attention.inputs;
  writer.stage(
      1, "Picture as vectors", "x(i), i = width · y + x",
      fmt::format("{} x {} pixels are {} vectors of {} numbers; this is each one's number.",
                  grid.height, grid.width, grid.size(), pixels.cols()));
  std::vector<double> indices(static_cast<size_t>(grid.size()));
  std::iota(indices.begin(), indices.end(), 0.0);
  Table picture = picture_table(grid, indices, chosen);
  picture.backgrounds = pixel_colors(pixels);
  Table vectors = vector_table("X", pixels, problem.labels);
  vectors.most_rows = kMostVectors;
  vectors.kept_row = chosen;
  writer.tables({picture, vectors});
}

void write_grid(const StepsProblem& problem, std::span<const double> values, int64_t chosen,
                StepsWriter& writer) {
  writer.tables({picture_table(*problem.grid, values, chosen)});
}

void write_weights(const StepsProblem& problem, std::span<const double> weights,
                   std::span<const double> masked, int64_t chosen, StepsWriter& writer) {
  std::vector<double> shown(weights.begin(), weights.end());
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!std::isfinite(masked[i])) shown[i] = masked[i];
  }
  Table table = picture_table(*problem.grid, shown, chosen);
  table.formats = {NumberFormat::for_weights()};
  table.shade_to = *std::ranges::max_element(weights);
  writer.tables({table});
}

void write_picture_row(const StepsProblem& problem, const HeadSteps& head, const StepsView& view,
                       int64_t head_index, StepsWriter& writer) {
  const int64_t i = *view.place;
  scores_stage(problem, view, writer);
  write_grid(problem, head.scores.row(i), i, writer);
  scaled_stage(problem, writer);
  if (is_scaled(problem)) write_grid(problem, head.scaled.row(i), i, writer);
  masked_stage(problem, writer);
  if (problem.attention.mask) write_grid(problem, head.masked.row(i), i, writer);
  softmax_stage(problem, writer);
  write_weights(problem, head.weights.row(i), head.masked.row(i), i, writer);
  writer.caption(weights_caption(problem, view, head_index, head.row_sums[static_cast<size_t>(i)]));
  writer.stage(7, "Weighted sum", "z = Σ a(j) v(j)",
               "The pixel receives the values of all pixels, mixed by its weights.");
  const auto value = head.v.row(i);
  const auto mixed = head.mixed.row(i);
  writer.tables({vector_table(
      "", Matrix::from_rows({{value.begin(), value.end()}, {mixed.begin(), mixed.end()}}),
      {"its own v", "z"})});
}

void write_picture_column(const StepsProblem& problem, const HeadSteps& head, const StepsView& view,
                          int64_t head_index, StepsWriter& writer) {
  const int64_t j = *view.place;
  softmax_stage(problem, writer);
  const std::vector<double> weights = head.weights.column(j);
  write_weights(problem, weights, head.masked.column(j), j, writer);
  writer.caption(weights_caption(problem, view, head_index,
                                 std::accumulate(weights.begin(), weights.end(), 0.0)));
}

}  // namespace

void write_picture(const StepsProblem& problem, const AttentionSteps& steps, const StepsView& view,
                   StepsWriter& writer) {
  write_inputs(problem, *view.place, writer);
  for (int64_t h = 0; h < problem.attention.heads; ++h) {
    if (view.head && *view.head != h) continue;
    const HeadSteps& head = steps.heads[static_cast<size_t>(h)];
    if (problem.attention.heads > 1) writer.banner(fmt::format("Head {}", h));
    write_projections(problem, head, view, kMostVectors, writer);
    if (view.column) {
      write_picture_column(problem, head, view, h, writer);
    } else {
      write_picture_row(problem, head, view, h, writer);
    }
  }
  if (!view.column) write_outputs(problem, steps, view, writer);
}

}  // namespace fovea
