// The weights of vectors as maps.
#include <fmt/format.h>

#include <limits>

#include "fovea/figure/vector_steps.h"

namespace fovea {
namespace {

// The weights of one head; forbidden cells are no number.
Tensor weights_of(const StepsProblem& problem, const HeadSteps& head) {
  const int64_t rows = head.weights.rows(), cols = head.weights.cols();
  Tensor weights = Tensor::uninitialized({rows, cols});
  MatrixView<float> cells = weights.mutable_matrix<float>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const bool allowed = !problem.attention.mask || (*problem.attention.mask)(i, j) != 0;
      cells(i, j) = allowed ? static_cast<float>(head.weights(i, j))
                            : std::numeric_limits<float>::quiet_NaN();
    }
  }
  return weights;
}

// For a picture: the chosen pixel's row or column, laid out as the picture is.
Tensor pixel_weights(const StepsProblem& problem, const HeadSteps& head, const StepsView& view) {
  const Tensor all = weights_of(problem, head);
  const MatrixView<const float> cells = all.matrix<float>();
  std::vector<float> values;
  for (int64_t i = 0; i < problem.grid->size(); ++i) {
    values.push_back(view.column ? cells(i, *view.place) : cells(*view.place, i));
  }
  return Tensor::from({problem.grid->height, problem.grid->width}, values);
}

// A memory: one line of hard and one of soft weights per query.
Tensor memory_weights(const StepsResult& result) {
  std::vector<float> values;
  for (size_t i = 0; i < result.soft.size(); ++i) {
    for (const MemoryReading* reading : {&result.hard[i], &result.soft[i]}) {
      values.insert(values.end(), reading->weights.begin(), reading->weights.end());
    }
  }
  const auto rows = static_cast<int64_t>(2 * result.soft.size());
  return Tensor::from({rows, static_cast<int64_t>(values.size()) / rows}, values);
}

Axis named_axis(std::string name, const std::vector<std::string>& labels) {
  Axis axis{.name = std::move(name)};
  for (const std::string& label : labels) axis.positions.push_back({.text = label});
  return axis;
}

std::string steps_caption(const StepsProblem& problem, const StepsView& view) {
  if (problem.memory) {
    return fmt::format(
        "Rows: hard and soft weights of each query · columns: keys · temperature {} "
        "· each row sums to 1.00",
        short_number(problem.attention.temperature));
  }
  std::string heads = view.head ? fmt::format("head {}", *view.head)
                                : fmt::format("{} head{}", problem.attention.heads,
                                              problem.attention.heads == 1 ? "" : "s");
  heads += fmt::format(" · {}", similarity_fact(problem));
  if (std::holds_alternative<Additive>(problem.attention.similarity)) {
    heads += fmt::format(" {}, weights as the file states them",
                         formula_of(problem.attention.similarity));
  }
  if (problem.grid) {
    return fmt::format(
        "{} {} · {} · softmax weight",
        view.column ? "Column: who attends to pixel" : "Row: what is attended to by pixel",
        *view.place, heads);
  }
  return fmt::format("Rows attend to columns · {} · softmax weight · each row sums to 1.00", heads);
}

void set_axes(const StepsProblem& problem, HeadsFigure& figure) {
  if (problem.memory) {
    std::vector<std::string> rows;
    for (const std::string& label : problem.labels) {
      rows.push_back(label + ", hard");
      rows.push_back(label + ", soft");
    }
    figure.rows = named_axis("queries", rows);
    figure.cols = named_axis("keys", problem.source_labels);
  } else if (problem.grid) {
    figure.rows = named_axis("lines", numbered(problem.grid->height));
    figure.cols = named_axis("columns", numbered(problem.grid->width));
  } else {
    figure.rows = named_axis("queries", problem.labels);
    figure.cols = named_axis("keys", problem.source_labels);
  }
}

}  // namespace

Figure vector_weights_figure(const StepsProblem& problem, const StepsResult& result,
                             const StepsView& view) {
  HeadsFigure figure;
  set_axes(problem, figure);
  if (problem.memory) figure.panels.push_back({"", memory_weights(result)});
  for (size_t h = 0; h < result.attention.heads.size() && !problem.memory; ++h) {
    if (view.head && *view.head != static_cast<int64_t>(h)) continue;
    const HeadSteps& head = result.attention.heads[h];
    figure.panels.push_back({fmt::format("head {}", h), problem.grid
                                                            ? pixel_weights(problem, head, view)
                                                            : weights_of(problem, head)});
  }
  figure.panels_across = static_cast<int64_t>(figure.panels.size());
  figure.text = {.title = steps_title(problem), .caption = steps_caption(problem, view)};
  figure.text.metadata = Json::object();
  figure.text.metadata.set("method", "attention");
  figure.text.metadata.set("input", problem.file);
  if (figure.panels.size() > 1) return figure;
  return MatrixFigure{.text = figure.text,
                      .rows = figure.rows,
                      .cols = figure.cols,
                      .weights = figure.panels.front().weights,
                      .scale = {}};
}

}  // namespace fovea
