// Products with packed weights, and what they are in double.
#pragma once

#include <cmath>
#include <vector>

#include "fovea/kernels/matmul.h"

namespace fovea::support {

inline double activated(Activation activation, double z) {
  switch (activation) {
    case Activation::kNone:
      return z;
    case Activation::kRelu:
      return z > 0 ? z : 0;
    case Activation::kGelu:
      return 0.5 * z * std::erfc(-z / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return 0.5 * z * (1 + std::tanh(std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z)));
    case Activation::kQuickGelu:
      return z / (1 + std::exp(-1.702 * z));
    case Activation::kSilu:
      return z / (1 + std::exp(-z));
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-z));
    case Activation::kTanh:
      return std::tanh(z);
  }
  return 0;
}

// activation(x W^T + bias) + residual for `weight` [out, in].
inline std::vector<double> reference_linear(const Tensor& x, const Tensor& weight,
                                            const Epilogue& epilogue) {
  const auto a = x.matrix<float>(), w = weight.matrix<float>();
  std::vector<double> result;
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t o = 0; o < w.rows; ++o) {
      double z = epilogue.bias.empty() ? 0 : double{epilogue.bias[static_cast<size_t>(o)]};
      for (int64_t i = 0; i < w.cols; ++i) z += double{a(r, i)} * double{w(o, i)};
      z = activated(epilogue.activation, z);
      if (epilogue.residual.data != nullptr) z += double{epilogue.residual(r, o)};
      result.push_back(z);
    }
  }
  return result;
}

inline Tensor product_of(const PackedMatrix& packed, const Tensor& x,
                         const Epilogue& epilogue = {}) {
  Tensor out = Tensor::uninitialized({x.size(0), packed.out()});
  packed.apply(x.matrix<float>(), epilogue, out.mutable_matrix<float>());
  return out;
}

// `in` roundings one after the other, each half an ulp of a partial sum of size about sqrt(in):
// together 6e-8 * in, and three times that for the worst of thousands of results.
inline double product_tolerance(int64_t in) {
  return 2e-7 * static_cast<double>(in) + 1e-6;
}

}  // namespace fovea::support
