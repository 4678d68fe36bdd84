#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string_view>
#include <vector>

#include "bench/turns/turn.h"
#include "fovea/base/team.h"
#include "fovea/kernels/simd_targets.h"

namespace {

struct Work {
  std::string_view name;
  std::string_view takes;
  size_t words;
  fovea::Turn (*prepare)(fovea::Words);
};

constexpr Work kWorks[] = {
    {"forward", "FOLDER INPUTS.safetensors f32|bf16", 3, fovea::forward_turn},
    {"relevancy", "FOLDER INPUTS.safetensors", 2, fovea::relevancy_turn},
    {"rollout", "FOLDER TOKENS", 2, fovea::rollout_turn},
    {"generate", "FOLDER INPUTS.safetensors TOKENS", 3, fovea::generate_turn},
    {"translate", "FOLDER SENTENCES.txt", 2, fovea::translate_turn},
    {"stats", "FOLDER TEXTS.txt", 2, fovea::stats_turn},
    {"attention", "TOKENS HEADS DIM f32|bf16", 4, fovea::attention_turn},
    {"matmul", "ROWS IN OUT", 3, fovea::matmul_turn},
    {"tile", "TOKENS SIDE DIM", 3, fovea::tile_turn},
    {"overview", "TOKENS DIM", 2, fovea::overview_turn},
};

int usage() {
  for (const Work& work : kWorks) {
    fmt::print(stderr, "usage: fovea-turns {} {}\n", work.name, work.takes);
  }
  return 2;
}

void say(const fovea::Json& answer) {
  fmt::print("{}\n", answer.dump());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const Work* work = std::ranges::find_if(kWorks, [&](const Work& candidate) {
    return words.size() == candidate.words + 1 && words[0] == candidate.name;
  });
  if (work == std::ranges::end(kWorks)) return usage();
  try {
    fovea::follow_isa_variable();
    fovea::run_on_team([&] {
      const fovea::Turn turn = work->prepare(fovea::Words(words).subspan(1));
      say(fovea::Json::object({{"isa", fovea::active_simd_target()}}));  // ready
      for (std::string line; std::getline(std::cin, line);) say(turn());
    });
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
