#include "fovea/explain/pictures/lanczos.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "fovea/attention/similarity.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

using Vector = std::vector<double>;

double length_of(std::span<const double> a) {
  return std::sqrt(dot(a, a));
}

// a <- a + factor b
void add_scaled(std::span<double> a, double factor, std::span<const double> b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

void scale(std::span<double> a, double factor) {
  for (double& value : a) value *= factor;
}

// A symmetric matrix with `diagonal` and, beside it, `beside`; one entry less.
struct Tridiagonal {
  Vector diagonal;
  Vector beside;

  // Pivots of shift I - T; all are positive if and only if the shift is above every eigenvalue.
  bool pivots(double shift, Vector& out) const {
    out.resize(diagonal.size());
    for (size_t i = 0; i < diagonal.size(); ++i) {
      out[i] = shift - diagonal[i] - (i == 0 ? 0 : beside[i - 1] * beside[i - 1] / out[i - 1]);
      if (!(out[i] > 0)) return false;
    }
    return true;
  }

  // The smallest number found to be above all eigenvalues, by bisection to the last bit.
  double upper_bound() const {
    double low = *std::max_element(diagonal.begin(), diagonal.end());
    double widest = 0;
    for (const double value : beside) widest = std::max(widest, std::abs(value));
    const double precision = 1e-30 + 2.3e-16 * (std::abs(low) + widest);
    double high = low + 2 * widest + precision;  // Gershgorin
    Vector unused;
    while (!pivots(high, unused)) high += precision;
    while (high - low > precision) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (pivots(middle, unused) ? high : low) = middle;
    }
    return high;
  }

  // The eigenvector of the largest eigenvalue, by inverse iteration just above it, where
  // shift I - T is positive definite and needs no pivoting.
  Vector top_vector(double shift) const {
    Vector pivot;
    pivots(shift, pivot);
    Vector x(diagonal.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = 1 + 0.1 * static_cast<double>(i % 7);
    for (int step = 0; step < 4; ++step) {
      for (size_t i = 1; i < x.size(); ++i) x[i] += beside[i - 1] / pivot[i - 1] * x[i - 1];
      for (size_t i = x.size(); i-- > 0;) {
        x[i] /= pivot[i];
        if (i + 1 < x.size()) x[i] += beside[i] / pivot[i] * x[i + 1];
      }
      double largest = 0;
      for (const double value : x) largest = std::max(largest, std::abs(value));
      scale(x, 1 / largest);
      scale(x, 1 / length_of(x));
    }
    return x;
  }
};

class Basis {
 public:
  Basis(const SymmetricProduct& multiply, std::span<const double> known)
      : multiply_(multiply), known_(known) {}

  // A first vector; what it shares with the known one is taken out.
  void begin(Vector first) {
    vectors_.clear();
    matrix_ = {};
    make_orthogonal(first);
    scale(first, 1 / length_of(first));
    vectors_.push_back(std::move(first));
  }
  int64_t size() const { return static_cast<int64_t>(matrix_.diagonal.size()); }

  // One more product; returns the length of what it adds to the space, 0 when that is complete.
  double grow() {
    Vector next(known_.size());
    multiply_(vectors_.back(), next);
    matrix_.diagonal.push_back(dot(next, vectors_.back()));
    make_orthogonal(next);
    const double added = length_of(next);
    if (added < 1e-14) return 0;
    scale(next, 1 / added);
    vectors_.push_back(std::move(next));
    matrix_.beside.push_back(added);
    return added;
  }

  // The best pair in the space so far, before the vector that grow() added last.
  EigenPair best(double added) const {
    Tridiagonal matrix = matrix_;
    matrix.beside.resize(matrix.diagonal.size() - 1);
    EigenPair pair;
    pair.value = matrix.upper_bound();
    const Vector small = matrix.top_vector(pair.value);
    pair.residual = added * std::abs(small.back());
    pair.vector.assign(known_.size(), 0.0);
    for (size_t i = 0; i < small.size(); ++i) add_scaled(pair.vector, small[i], vectors_[i]);
    return pair;
  }

 private:
  void make_orthogonal(Vector& vector) const {
    for (int pass = 0; pass < 2; ++pass) {  // once is not enough in floating point, twice is
      add_scaled(vector, -dot(vector, known_), known_);
      for (const Vector& other : vectors_) add_scaled(vector, -dot(vector, other), other);
    }
  }

  const SymmetricProduct& multiply_;
  std::span<const double> known_;
  std::vector<Vector> vectors_;
  Tridiagonal matrix_;
};

}  // namespace

EigenPair largest_eigenpair(const SymmetricProduct& multiply, std::span<const double> known,
                            const LanczosOptions& options) {
  const auto size = static_cast<int64_t>(known.size());
  if (size < 2) {
    fail(ErrorKind::kInvalidArgument,
         "a matrix of {} rows has no second eigenvector; give two rows or more", size);
  }
  constexpr int64_t kCheckEvery = 8;
  const int64_t most = std::min(options.basis, size - 1);
  std::mt19937 random(1);  // its bare numbers are the same everywhere
  Vector first(known.size());
  for (double& value : first) value = static_cast<double>(random()) / 4294967296.0 - 0.5;
  Basis basis(multiply, known);
  EigenPair best;
  int64_t products = 0;
  for (int64_t round = 0; round <= options.restarts; ++round) {
    basis.begin(round == 0 ? first : best.vector);
    double added = 1;
    while (added > 0 && basis.size() < most) {
      check_cancelled();
      added = basis.grow();
      ++products;
      if (added > 0 && basis.size() < most && basis.size() % kCheckEvery != 0) continue;
      best = basis.best(added);
      best.products = products;
      if (best.residual <= options.tolerance || basis.size() == size - 1) return best;
    }
    if (added == 0) return best;
  }
  return best;
}

}  // namespace fovea
