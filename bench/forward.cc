// Runs a model's forward pass with every map kept, once for each line of its input, and prints the
// milliseconds: bench/compare_text.py calls it in turns with PyTorch.
//
//   fovea-forward FOLDER INPUTS.safetensors [f32|bf16] [gradient]
//
// With "gradient" it is a gradient run instead: of the cosine of the model's embedding with a
// vector of ones, at every head's output, records handed on one by one.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/engine/engine_gradient.h"
#include "fovea/engine/input_file.h"

namespace {

void print_gradient(const fovea::Engine& engine, const fovea::ModelInputs& inputs) {
  const auto start = std::chrono::steady_clock::now();
  fovea::RecorderOptions record;
  float seen = 0;
  record.give_to = [&](int64_t, const fovea::AttentionRecord& made) {
    seen += made.output_gradient.values<float>()[0];
  };
  const std::vector<float> ones(static_cast<size_t>(engine.facts().width), 1);
  fovea::engine_gradient(
      engine, engine.label(inputs),
      {.target = fovea::SimilarityTarget{ones}, .inputs = false, .record = record}, {});
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  fmt::print("{:.3f} {}\n", time.count(), seen);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: fovea-forward FOLDER INPUTS.safetensors [f32|bf16] [gradient]\n");
    return 2;
  }
  try {
    const bool rounded = argc > 3 && std::string(argv[3]) == "bf16";
    const fovea::Engine engine = fovea::Engine::open(
        argv[1], {.compute = rounded ? fovea::DType::kBF16 : fovea::DType::kF32});
    const fovea::ModelInputs inputs = fovea::read_inputs(argv[2]);
    const bool gradient = argc > 3 && std::string(argv[argc - 1]) == "gradient";
    for (std::string line; std::getline(std::cin, line);) {
      if (gradient) {
        print_gradient(engine, inputs);
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      const fovea::RunResult result = engine.run(inputs);
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      // A cell of the last map, so that the work cannot be left out.
      const float cell = result.map(result.run.records.back()->site, 0).cell(0, 0);
      fmt::print("{:.3f} {}\n", time.count(), cell);
      std::fflush(stdout);
    }
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
