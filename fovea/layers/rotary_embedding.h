// Rotary positions as a configuration describes them: the base, and how to stretch frequencies for
// texts longer than in training.
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
  // Reads rope_parameters, or the older rope_theta and rope_scaling. Rotates the first `dim`
  // numbers of a head, usually all: a partial_rotary_factor counts only if the architecture says
  // so, as in transformers. `layer_type` names the section of rope_parameters if layers differ
  // ("sliding_attention"). Throws Error{kBadFile} for missing members, and Error{kUnsupported} for
  // a kind of stretching that fovea does not know.
  static RotaryEmbedding of(const Config& config, int64_t dim, double default_base = 10000,
                            std::string_view layer_type = "");
  // How many numbers of a head turn where an architecture turns a share: "partial_rotary_factor" of
  // rope_parameters, or `key` beside it, or `otherwise`. Throws Error{kBadFile} unless the share is
  // within (0, 1].
  static int64_t rotated_part(const Config& config, int64_t head_dim, std::string_view key,
                              double otherwise);
  // Plain rotation with this base, for the first `rotated_dim` numbers of a head.
  static RotaryEmbedding plain(int64_t rotated_dim, double base);

  // With frequencies that a checkpoint brings itself.
  static RotaryEmbedding of_frequencies(std::span<const float> frequencies);

  // Divides each frequency by a factor; GGUF files store Llama 3.1's so. Throws Error{kBadFile}
  // naming `source` unless there is one factor per pair, all above 0.
  void divide_frequencies(std::span<const float> factors, std::string_view source);

  // The table of rotations for these positions.
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
  // "longrope": texts longer than in training have frequencies of their own.
  std::vector<float> long_frequencies_;  // empty: the same
  int64_t long_from_ = 0;                // tokens from which on
};

}  // namespace fovea
