// Finds one eigenvector of a large symmetric matrix; it only needs products with the matrix
// (Lanczos 1950).
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
  double tolerance = 1e-10;  // largest residual, for a matrix whose norm is about 1
  int64_t basis = 400;       // vectors kept between restarts
  int64_t restarts = 20;     // after them, the best pair so far is returned
};

// out = A x
using SymmetricProduct = std::function<void(std::span<const double> x, std::span<double> out)>;

// The largest eigenvalue of A, and its vector, among vectors at right angles to `known`, an
// eigenvector of length 1. Every basis vector is kept at right angles to all others, so nothing is
// found twice. It begins with a fixed vector, so the answer is always the same. Memory size *
// basis. Throws Error{kInvalidArgument} for fewer than two numbers, and Error{kCancelled}.
EigenPair largest_eigenpair(const SymmetricProduct& multiply, std::span<const double> known,
                            const LanczosOptions& options = {});

}  // namespace fovea
