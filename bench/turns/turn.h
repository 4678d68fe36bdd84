// fovea-turns: works that are timed in turns with PyTorch's. Each is prepared once, and then done
// once for each line that the program reads (bench/compare, which calls it, has the other side).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "fovea/base/json.h"

namespace fovea {

// Does the work and answers {"seconds": ...} with what the reader compares or shows beside it.
using Turn = std::function<Json()>;
using Words = std::span<const std::string>;

// Each takes the words after its name; they throw Error, or std::exception for a bad number.
Turn forward_turn(Words words);
Turn relevancy_turn(Words words);
Turn rollout_turn(Words words);
Turn generate_turn(Words words);
Turn translate_turn(Words words);
Turn stats_turn(Words words);
Turn attention_turn(Words words);
Turn matmul_turn(Words words);
Turn tile_turn(Words words);
Turn overview_turn(Words words);

// Of wall-clock time.
double seconds_of(const std::function<void()>& work);
// The mean of as many as fill a tenth of a second, for works that are short.
double mean_seconds_of(const std::function<void()>& work);

}  // namespace fovea
