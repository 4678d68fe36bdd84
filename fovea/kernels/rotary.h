// Rotary position embedding (Su et al. 2021, arXiv:2104.09864): each pair of elements of a row is
// turned by an angle that grows with the row's position.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Which elements of the rotated part make pair p of P.
enum class RotaryPairing {
  kHalves,      // p and p + P: Llama, GPT-NeoX
  kNeighbours,  // 2p and 2p + 1: GPT-J, RoFormer
};

// cos and sin of every angle, f32 [positions, pairs]. A row of 2 * pairs elements or more is
// rotated in its first 2 * pairs elements; the rest is left as it is.
struct RotaryTable {
  Tensor cos;
  Tensor sin;

  int64_t rows() const { return cos.size(0); }
  int64_t pairs() const { return cos.size(1); }
};

// base^(-2p / rotated_dim) for every pair p, computed in f32 as transformers does. An odd dimension
// counts as the next even one, with its own exponents.
std::vector<float> rotary_frequencies(int64_t rotated_dim, float base);

// The angle of pair p at position t is t * frequencies[p], rounded to f32 as transformers does: at
// long positions that rounding is part of what the model was trained with. `scale` multiplies cos
// and sin (YaRN's attention factor).
RotaryTable make_rotary_table(std::span<const int64_t> positions,
                              std::span<const float> frequencies, float scale = 1);

// Row i of `x` is turned by the angles of row i of the table, or `backwards`, which is the
// transpose. `out` may be `x`. Throws Error{kInvalidArgument} if the table does not fit.
void rotate_rows(MatrixView<const float> x, const RotaryTable& table, RotaryPairing pairing,
                 bool backwards, MatrixView<float> out);

}  // namespace fovea
