// Rotary positions as a configuration describes them: the base, and how frequencies are stretched
// for texts longer than the model was first trained on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/checkpoint/config.h"
#include "fovea/kernels/rotary.h"

namespace fovea {

class RotaryEmbedding {
 public:
  // Of the first `dim` numbers of a head, usually all: a partial_rotary_factor counts only where
  // the architecture says so, as in transformers. Reads rope_parameters, or the older rope_theta
  // and rope_scaling. `layer_type` names the section of rope_parameters where layers differ
  // ("sliding_attention"). Throws Error{kBadFile} for missing members, Error{kUnsupported} for a
  // kind of stretching that fovea does not know.
  static RotaryEmbedding of(const Config& config, int64_t dim, double default_base = 10000,
                            std::string_view layer_type = "");
  // Plain rotation with this base, of the first `rotated_dim` numbers of a head.
  static RotaryEmbedding plain(int64_t rotated_dim, double base);

  // Divides each frequency: Llama 3.1's factors as GGUF files store them. Throws
  // Error{kBadFile} naming `source` unless there is one per pair, all above 0.
  void divide_frequencies(std::span<const float> factors, std::string_view source);

  // For the positions first, first + 1, ... of a text.
  RotaryTable table(std::span<const int64_t> positions) const;

 private:
  std::vector<float> frequencies_;
  float scale_ = 1;
  // "dynamic": the base grows with the text (NTK-aware scaling).
  struct Dynamic {
    double base = 0;
    double factor = 1;
    int64_t trained_length = 0;
  };
  std::optional<Dynamic> dynamic_;
};

}  // namespace fovea
