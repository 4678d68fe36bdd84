// What tests of methods about pictures share: numpy's answers, and random attention over a picture.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/explain/pictures/grid_mask.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/io/npz.h"
#include "support/data.h"
#include "support/records.h"

namespace fovea::support {

// Made by tools/fixtures/make_explain_fixture.py.
inline const NpzFile& picture_answers() {
  static const NpzFile file = NpzFile::open(test_data("explain/pictures.npz"));
  return file;
}

template <typename T>
std::vector<T> answer(const std::string& name) {
  const Tensor tensor = picture_answers().tensor(name);
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

inline GridBox answer_box(const std::string& name) {
  const auto edges = answer<int64_t>(name);
  return {edges[0], edges[1], edges[2], edges[3]};
}

inline AttentionCase picture_case(uint32_t seed, const PictureAxis& axis, int64_t heads,
                                  int64_t dim = 8) {
  std::mt19937 random(seed);
  AttentionCase c;
  const int64_t n = axis.positions();
  c.shape = {heads, heads, n, n, dim, dim};
  c.rule.scale = static_cast<float>(1 / std::sqrt(double(dim)));
  c.queries = random_heads(random, {heads, n, dim}, 1.5, DType::kF32);
  c.keys = random_heads(random, {heads, n, dim}, 1.5, DType::kF32);
  c.values = random_heads(random, {heads, n, dim}, 1, DType::kF32);
  return c;
}

// Weights between patches in double, by head.
struct NaivePatches {
  PictureAxis axis;
  DenseAttention dense;

  NaivePatches(const AttentionCase& c, const PictureAxis& a) : axis(a), dense(dense_attention(c)) {}
  double weight(size_t head, int64_t i, int64_t j) const {
    return dense.weights[head][size_t((axis.specials + i) * axis.positions() + axis.specials + j)];
  }
  double given(size_t head, int64_t i) const {
    double sum = 0;
    for (int64_t j = 0; j < axis.grid.patches(); ++j) sum += weight(head, i, j);
    return sum;
  }
};

}  // namespace fovea::support
