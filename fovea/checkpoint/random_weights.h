// Random weights in the shapes of a trained model's. A result must be compared with them before it
// is called learned.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "fovea/checkpoint/weights.h"

namespace fovea {

struct RandomWeights {
  double deviation = 0.02;  // config.json calls it initializer_range
  uint64_t seed = 0;
  // Which tensors become random, by their names; null: all. Others stay as they are.
  std::function<bool(std::string_view name)> chosen = nullptr;
};

// Draws weights as transformers begins training, by name and shape: biases 0, other vectors (norms)
// 1, matrices, tables and tokens normal with the deviation. Single numbers and integers stay as
// they are. A tensor depends only on its name and the seed. All are f32, drawn when they are read.
Weights random_weights(const Weights& like, const RandomWeights& how);

}  // namespace fovea
