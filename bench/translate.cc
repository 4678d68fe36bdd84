// Translates every line of a file by greedy search, all maps kept, once for each line of its input,
// and prints seconds and tokens: bench/compare_translation.py calls it in turns with transformers.
//
//   fovea-translate MODEL SENTENCES.txt
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/engine/translator.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: fovea-translate MODEL SENTENCES.txt\n");
    return 2;
  }
  try {
    const fovea::Translator translator(fovea::Engine::open(argv[1]));
    std::vector<std::string> sentences;
    std::ifstream file(argv[2]);
    for (std::string line; std::getline(file, line);) sentences.push_back(line);
    for (std::string line; std::getline(std::cin, line);) {
      size_t tokens = 0;
      const auto start = std::chrono::steady_clock::now();
      for (const std::string& sentence : sentences) {
        // What was read is the start and all that was written but the end.
        tokens +=
            translator.translate(sentence, {.beams = 1}).result.inputs.decoder_input_ids.size();
      }
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      fmt::print("{:.4f} {}\n", time.count(), tokens);
      std::fflush(stdout);
    }
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
