// Runs a model forward, its gradient, and its relevancy in turns on one input: time and memory, for
// bench/compare_relevancy.py.
//
//   fovea-relevancy FOLDER INPUTS.safetensors ROUNDS
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>

#include "fovea/engine/engine_subject.h"
#include "fovea/engine/input_file.h"
#include "fovea/explain/method.h"

namespace {

double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  }
  return 0;
}

struct Cost {
  double wall = 0;
  double cpu = 0;  // of all threads: what counts where others use the machine too
};

Cost cost_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

// Of the last position of a model that writes: what it would write next.
void run(const std::string& folder, const std::string& file, int rounds) {
  const fovea::Engine engine = fovea::Engine::open(folder);
  const fovea::TextInput input = engine.label(fovea::read_inputs(file));
  fovea::RunOptions plain;
  plain.record = fovea::RecorderOptions::nothing();
  plain.logits = fovea::LogitRows::kLast;
  // Axes and layers alone; relevancy makes its own records.
  const fovea::RunResult kept =
      engine.run(input, {.record = {.wanted = [](fovea::SiteId site) { return site.layer == 0; }},
                         .logits = fovea::LogitRows::kLast});
  const fovea::Target target = fovea::TokenTarget{input.inputs.tokens() - 1, 0};
  fovea::EngineSubject subject(engine, input, fovea::LogitRows::kLast);
  const fovea::ExplainRequest request{.run = kept.run, .subject = &subject, .target = &target};
  for (int round = 0; round < rounds; ++round) {
    const Cost forward = cost_of([&] { engine.run(input, plain); });
    const Cost gradient = cost_of([&] {
      fovea::RecorderOptions drop;
      drop.give_to = [](int64_t, const fovea::AttentionRecord&) {};
      subject.gradient({.target = target, .inputs = false, .record = drop, .at = {}}, {});
    });
    double first = 0;
    const Cost relevancy =
        cost_of([&] { first = explain(fovea::find_method("relevancy"), request).scores.front(); });
    fmt::print(R"({{"forward_s": {:.3f}, "gradient_s": {:.3f}, "relevancy_s": {:.3f}, )"
               R"("forward_cpu_s": {:.3f}, "gradient_cpu_s": {:.3f}, "relevancy_cpu_s": {:.3f}, )"
               R"("peak_mb": {:.0f}, "first": {:.6g}}})"
               "\n",
               forward.wall, gradient.wall, relevancy.wall, forward.cpu, gradient.cpu,
               relevancy.cpu, peak_mb(), first);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: fovea-relevancy FOLDER INPUTS.safetensors ROUNDS\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], std::stoi(argv[3]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
