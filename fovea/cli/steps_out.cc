#include "fovea/cli/steps_out.h"

#include <fmt/ranges.h>

#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/help.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/steps_json.h"
#include "fovea/cli/steps_text.h"
#include "fovea/cli/steps_writer.h"
#include "fovea/cli/suggest.h"
#include "fovea/io/npz.h"
#include "fovea/render/png.h"
#include "fovea/tensor/tensor.h"

namespace fovea {
namespace {

using WriteFunction = void (*)(const std::filesystem::path&, const StepsProblem&,
                               const StepsResult&, const StepsView&);

struct Format {
  std::string suffix;
  WriteFunction write;
};

void write_json(const std::filesystem::path& path, const StepsProblem& problem,
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

void write_arrays(const std::filesystem::path& path, const StepsProblem& problem,
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

// One matrix of weights as the picture shows it: forbidden cells are no number.
struct Panel {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<float> values;
  MatrixView<const float> view() const { return {values.data(), rows, cols}; }
};

Panel weights_panel(const StepsProblem& problem, const HeadSteps& head) {
  Panel panel{head.weights.rows(), head.weights.cols(), {}};
  for (int64_t i = 0; i < panel.rows; ++i) {
    for (int64_t j = 0; j < panel.cols; ++j) {
      const bool allowed = !problem.attention.mask || (*problem.attention.mask)(i, j) != 0;
      panel.values.push_back(allowed ? static_cast<float>(head.weights(i, j))
                                     : std::numeric_limits<float>::quiet_NaN());
    }
  }
  return panel;
}

// For a picture: the chosen pixel's row or column, laid out as the picture is.
Panel picture_panel(const StepsProblem& problem, const HeadSteps& head, const StepsView& view) {
  const Panel all = weights_panel(problem, head);
  Panel panel{problem.grid->height, problem.grid->width, {}};
  for (int64_t i = 0; i < problem.grid->size(); ++i) {
    panel.values.push_back(view.column ? all.view()(i, *view.place) : all.view()(*view.place, i));
  }
  return panel;
}

// A memory: one line of hard and one of soft weights per query.
Panel memory_panel(const StepsResult& result) {
  Panel panel{0, static_cast<int64_t>(result.soft.front().weights.size()), {}};
  for (size_t i = 0; i < result.soft.size(); ++i) {
    for (const MemoryReading* reading : {&result.hard[i], &result.soft[i]}) {
      for (const double weight : reading->weights) {
        panel.values.push_back(static_cast<float>(weight));
      }
      ++panel.rows;
    }
  }
  return panel;
}

std::string description(const StepsProblem& problem, const StepsView& view) {
  const std::string scale = "inferno, 0 to the largest weight";
  if (problem.memory) return "rows: hard and soft weights of each query, columns: slots; " + scale;
  const std::string heads =
      view.head ? fmt::format("head {}", *view.head)
                : fmt::format("{} heads from left to right", problem.attention.heads);
  if (problem.grid) {
    return fmt::format(
        "softmax weights, {} vector {}, {}; {}",
        view.column ? "column (who attends to it) of" : "row (what it attends to) of", *view.place,
        heads, scale);
  }
  return fmt::format("softmax weights, rows: queries, columns: keys, {}; {}", heads, scale);
}

void write_heatmap(const std::filesystem::path& path, const StepsProblem& problem,
                   const StepsResult& result, const StepsView& view) {
  std::vector<Panel> panels;
  if (problem.memory) {
    panels.push_back(memory_panel(result));
  } else {
    for (size_t h = 0; h < result.attention.heads.size(); ++h) {
      if (view.head && *view.head != static_cast<int64_t>(h)) continue;
      const HeadSteps& head = result.attention.heads[h];
      panels.push_back(problem.grid ? picture_panel(problem, head, view)
                                    : weights_panel(problem, head));
    }
  }
  std::vector<MatrixView<const float>> views;
  views.reserve(panels.size());
  for (const Panel& panel : panels) views.push_back(panel.view());
  write_png(path, heatmap_row(views),
            {.software = program_version(),
             .title = steps_title(problem),
             .description = description(problem, view)});
}

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {".json", write_json}, {".npz", write_arrays}, {".png", write_heatmap}};
  return all;
}

const Format& format_of(const std::filesystem::path& path) {
  std::vector<std::string> suffixes;
  for (const Format& format : formats()) {
    if (path.extension() == format.suffix) return format;
    suffixes.push_back(format.suffix);
  }
  fail(ErrorKind::kInvalidArgument, "--out is '{}' but steps writes {}; give one of these suffixes",
       path.string(), fmt::join(suffixes, ", "));
}

}  // namespace

void check_steps_suffix(const std::filesystem::path& path) {
  format_of(path);
}

void write_steps(const std::filesystem::path& path, const StepsProblem& problem,
                 const StepsResult& result, const StepsView& view) {
  const InterruptGuard guard;
  format_of(path).write(path, problem, result, view);
}

}  // namespace fovea
