// Runs a model on random tokens with every map kept and rolls out the last position's attention:
// time and memory, for bench/long_context.py.
//
//   fovea-rollout FOLDER TOKENS [mean|max|min [DISCARD]]
#include "fovea/explain/rollout.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "fovea/engine/engine.h"

namespace {

// A line of /proc/self/status in MB: "VmRSS" is what is held now, "VmHWM" the most so far.
double memory_mb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024 / 1e6;
  }
  return 0;
}

struct Cost {
  double seconds = 0;
  double peak_mb = 0;
};

Cost measure(const std::function<void()>& work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return {time.count(), memory_mb("VmHWM")};
}

fovea::RolloutOptions options_of(int argc, char** argv) {
  fovea::RolloutOptions options;
  for (const auto fusion :
       {fovea::HeadFusion::kMean, fovea::HeadFusion::kMax, fovea::HeadFusion::kMin}) {
    if (argc > 3 && to_string(fusion) == argv[3]) options.fusion = fusion;
  }
  if (argc > 4) options.discard = std::stod(argv[4]);
  return options;
}

void run(int argc, char** argv) {
  const fovea::Engine engine = fovea::Engine::open(argv[1]);
  const int64_t tokens = std::stoll(argv[2]);
  fovea::ModelInputs inputs;
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> word(0, engine.facts().vocabulary - 1);
  for (int64_t i = 0; i < tokens; ++i) inputs.input_ids.push_back(word(random));

  fovea::RunOptions run_options;
  run_options.record.values = false;
  fovea::ModelInputs few;
  few.input_ids = {1, 2, 3};
  engine.run(few, run_options);  // now the weights are in memory
  const double model_mb = memory_mb("VmRSS");
  fovea::LayerRecords layers;
  const Cost forward = measure([&] {
    const fovea::RunResult result = engine.run(inputs, run_options);
    layers = layers_of(result.run, fovea::SiteKind::kSelf);
  });
  const double kept_mb = memory_mb("VmRSS");
  std::vector<double> row;
  const Cost rolled =
      measure([&] { row = fovea::rollout(layers, tokens - 1, options_of(argc, argv)); });
  fmt::print(R"({{"tokens": {}, "layers": {}, "forward_s": {:.2f}, "forward_peak_mb": {:.0f}, )"
             R"("kept_mb": {:.0f}, "rollout_s": {:.2f}, "rollout_peak_mb": {:.0f}, "sum": {:.6f}}})"
             "\n",
             tokens, layers.size(), forward.seconds, forward.peak_mb - model_mb, kept_mb - model_mb,
             rolled.seconds, rolled.peak_mb - model_mb,
             std::accumulate(row.begin(), row.end(), 0.0));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: fovea-rollout FOLDER TOKENS [mean|max|min [DISCARD]]\n");
    return 2;
  }
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
