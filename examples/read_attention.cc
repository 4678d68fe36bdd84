// What does a word attend to? Opens a model, runs a sentence and prints the three largest weights
// of one word in every head of one layer.
//
//   read_attention MODEL "The cat sat on the mat." 2 5        word 2, layer 5
#include <fmt/format.h>

#include <cstdlib>

#include "fovea/engine/engine.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: read_attention MODEL TEXT WORD LAYER\n");
    return 2;
  }
  const int64_t word = std::atoll(argv[3]);
  const fovea::SiteId site{fovea::SiteKind::kSelf, std::atoi(argv[4])};
  try {
    const fovea::Engine engine = fovea::Engine::open(argv[1]);
    const fovea::RunResult result = engine.run(engine.encode(argv[2]));
    const fovea::Axis& tokens = result.run.axes.front();
    for (int64_t head = 0; head < engine.facts().main.heads; ++head) {
      fmt::print("head {:2}:", head);
      for (const auto& [column, weight] : result.map(site, head).row_top(word, 3)) {
        fmt::print("  {} {:.3f}", tokens.positions[static_cast<size_t>(column)].text, weight);
      }
      fmt::print("\n");
    }
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
