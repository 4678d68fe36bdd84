#include "fovea/cli/steps/out.h"

#include <fmt/ranges.h>

#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/suggest.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/number_format.h"
#include "fovea/cli/steps/json.h"
#include "fovea/cli/steps/text.h"
#include "fovea/cli/steps/writer.h"
#include "fovea/cli/table.h"
#include "fovea/io/npz.h"
#include "fovea/render/figure_file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {
namespace {

using WriteFunction = void (*)(const std::filesystem::path&, const StepsProblem&,
                               const StepsResult&, const StepsView&);

struct StepsFormat {
  std::string suffix;
  WriteFunction write;
};

void write_steps_json(const std::filesystem::path& path, const StepsProblem& problem,
                      const StepsResult& result, const StepsView& view) {
  const std::string text = steps_json(problem, result, view).dump(1) + "\n";
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(text); });
}

Tensor to_tensor(const Matrix& matrix) {
  return Tensor::from<double>({matrix.rows(), matrix.cols()}, matrix.values());
}

Tensor stack(const std::vector<HeadSteps>& heads, Matrix HeadSteps::*part) {
  const Matrix& first = heads.front().*part;
  std::vector<double> values;
  for (const HeadSteps& head : heads) {
    const auto entries = (head.*part).values();
    values.insert(values.end(), entries.begin(), entries.end());
  }
  return Tensor::from({static_cast<int64_t>(heads.size()), first.rows(), first.cols()}, values);
}

Tensor stack(const std::vector<MemoryReading>& readings, std::vector<double> MemoryReading::*part) {
  std::vector<double> values;
  for (const MemoryReading& reading : readings) {
    values.insert(values.end(), (reading.*part).begin(), (reading.*part).end());
  }
  return Tensor::from({static_cast<int64_t>(readings.size()),
                       static_cast<int64_t>((readings.front().*part).size())},
                      values);
}

void write_steps_arrays(const std::filesystem::path& path, const StepsProblem& problem,
                        const StepsResult& result, const StepsView&) {
  std::vector<NamedTensor> arrays;
  if (problem.memory) {
    arrays = {{"queries", to_tensor(problem.queries)},
              {"keys", to_tensor(problem.memory->keys)},
              {"values", to_tensor(problem.memory->values)},
              {"scores", stack(result.soft, &MemoryReading::scores)},
              {"hard_weights", stack(result.hard, &MemoryReading::weights)},
              {"hard_value", stack(result.hard, &MemoryReading::value)},
              {"soft_weights", stack(result.soft, &MemoryReading::weights)},
              {"soft_value", stack(result.soft, &MemoryReading::value)}};
  } else {
    const auto& heads = result.attention.heads;
    arrays = {{"inputs", to_tensor(problem.attention.inputs)},
              {"q", stack(heads, &HeadSteps::q)},
              {"k", stack(heads, &HeadSteps::k)},
              {"v", stack(heads, &HeadSteps::v)},
              {"scores", stack(heads, &HeadSteps::scores)},
              {"scaled", stack(heads, &HeadSteps::scaled)},
              {"masked", stack(heads, &HeadSteps::masked)},
              {"weights", stack(heads, &HeadSteps::weights)},
              {"weighted_sum", stack(heads, &HeadSteps::mixed)},
              {"joined", to_tensor(result.attention.joined)},
              {"output", to_tensor(result.attention.output)}};
    if (problem.attention.source)
      arrays.push_back({"source", to_tensor(*problem.attention.source)});
  }
  write_npz(path, arrays);
}

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
Tensor picture_weights(const StepsProblem& problem, const HeadSteps& head, const StepsView& view) {
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

Axis axis_of(std::string name, const std::vector<std::string>& labels) {
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
    figure.rows = axis_of("queries", rows);
    figure.cols = axis_of("keys", problem.source_labels);
  } else if (problem.grid) {
    figure.rows = axis_of("lines", numbered(problem.grid->height));
    figure.cols = axis_of("columns", numbered(problem.grid->width));
  } else {
    figure.rows = axis_of("queries", problem.labels);
    figure.cols = axis_of("keys", problem.source_labels);
  }
}

void write_steps_picture(const std::filesystem::path& path, const StepsProblem& problem,
                         const StepsResult& result, const StepsView& view) {
  HeadsFigure figure;
  set_axes(problem, figure);
  if (problem.memory) {
    figure.panels.push_back({"", memory_weights(result)});
  }
  for (size_t h = 0; h < result.attention.heads.size() && !problem.memory; ++h) {
    if (view.head && *view.head != static_cast<int64_t>(h)) continue;
    const HeadSteps& head = result.attention.heads[h];
    figure.panels.push_back({fmt::format("head {}", h), problem.grid
                                                            ? picture_weights(problem, head, view)
                                                            : weights_of(problem, head)});
  }
  figure.panels_across = static_cast<int64_t>(figure.panels.size());
  figure.text = {.title = steps_title(problem), .caption = steps_caption(problem, view)};
  figure.text.metadata = Json::object();
  figure.text.metadata.set("method", "attention");
  figure.text.metadata.set("input", problem.file);
  if (figure.panels.size() > 1) {
    write_figure(path, figure);
    return;
  }
  write_figure(path, MatrixFigure{.text = figure.text,
                                  .rows = figure.rows,
                                  .cols = figure.cols,
                                  .weights = figure.panels.front().weights,
                                  .scale = {}});
}

const std::vector<StepsFormat>& formats() {
  static const std::vector<StepsFormat> all = {{".json", write_steps_json},
                                               {".npz", write_steps_arrays},
                                               {".png", write_steps_picture},
                                               {".svg", write_steps_picture},
                                               {".pdf", write_steps_picture}};
  return all;
}

const StepsFormat& steps_format_of(const std::filesystem::path& path) {
  std::vector<std::string> suffixes;
  for (const StepsFormat& format : formats()) {
    if (lower_suffix(path) == format.suffix) return format;
    suffixes.push_back(format.suffix);
  }
  fail(ErrorKind::kInvalidArgument, "--out is '{}' but steps writes {}; give one of these suffixes",
       path.string(), fmt::join(suffixes, ", "));
}

}  // namespace

void check_steps_suffix(const std::filesystem::path& path) {
  steps_format_of(path);
}

void write_steps(const std::filesystem::path& path, const StepsProblem& problem,
                 const StepsResult& result, const StepsView& view) {
  const InterruptGuard guard;
  steps_format_of(path).write(path, problem, result, view);
}

}  // namespace fovea
