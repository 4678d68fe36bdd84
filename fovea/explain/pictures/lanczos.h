// One eigenvector of a large symmetric matrix that is only ever multiplied with (Lanczos 1950).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace fovea {

struct EigenPair {
  double value = 0;
  std::vector<double> vector;  // length 1; its sign is arbitrary
  double residual = 0;         // |A x - value x|
  int64_t products = 0;        // how often A was multiplied with
};

struct LanczosOptions {
  double tolerance = 1e-10;  // of the residual, for a matrix whose norm is about 1
  int64_t basis = 400;       // vectors kept between restarts
  int64_t restarts = 20;     // then the best pair so far is given, with its residual
};

// out = A x
using SymmetricProduct = std::function<void(std::span<const double> x, std::span<double> out)>;

// The largest eigenvalue of A among vectors at right angles to `known`, an eigenvector of length 1,
// and its vector. Every basis vector is kept at right angles to all others, so nothing is found
// twice. Begins with a fixed vector: the same answer every time. Memory size * basis. Throws
// Error{kInvalidArgument} for fewer than two numbers, Error{kCancelled}.
EigenPair largest_eigenpair(const SymmetricProduct& multiply, std::span<const double> known,
                            const LanczosOptions& options = {});

}  // namespace fovea
