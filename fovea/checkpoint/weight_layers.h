// Which layer of a model a tensor belongs to, told by its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// A part of a model with everything above it. Heads and norms behind the last layer are above all
// layers, a decoder is above its encoder, embeddings and a convolutional trunk are below.
struct WeightsAbove {
  std::string name;    // "layer 3 and above", "encoder layer 0 and above"
  int64_t height = 0;  // height of the lowest layer in it

  bool holds(std::string_view tensor) const;
};

// All such parts, from the last layer alone down to the first with all above it. Empty if the names
// tell no layers.
std::vector<WeightsAbove> weights_from_the_top(const std::vector<std::string>& names);

}  // namespace fovea
