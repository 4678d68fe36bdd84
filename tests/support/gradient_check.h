// Checks an op's result and its vector-Jacobian product against a plain reference in double.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "fovea/ops/tape.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea::support {

using Doubles = std::vector<double>;

// The op under test on values, and the same function on plain numbers: one vector per input, in the
// row-major order of its tensor.
struct GradientCase {
  std::function<Value(const std::vector<Value>&)> op;
  std::function<Doubles(const std::vector<Doubles>&)> reference;
  std::vector<Tensor> inputs;
  // Forward results in f32: a few roundings of numbers around 1.
  double forward_tolerance = 5e-6;
  // The tolerance is a share of the largest gradient. Central differences in double with this step
  // are good to 1e-9, so what remains is the rounding of the op's own f32 sums.
  double gradient_tolerance = 1e-5;
};

// sum_o seed[o] * output[o]
inline double seeded(const Doubles& output, const Doubles& seed) {
  double sum = 0;
  for (size_t i = 0; i < output.size(); ++i) sum += output[i] * seed[i];
  return sum;
}

inline Doubles central_differences(const GradientCase& c, size_t input, const Doubles& seed) {
  constexpr double kStep = 1e-5;
  std::vector<Doubles> at;
  for (const Tensor& tensor : c.inputs) at.push_back(to_doubles(tensor));
  Doubles gradient;
  for (double& x : at[input]) {
    const double here = x;
    x = here + kStep;
    const double above = seeded(c.reference(at), seed);
    x = here - kStep;
    const double below = seeded(c.reference(at), seed);
    x = here;
    gradient.push_back((above - below) / (2 * kStep));
  }
  return gradient;
}

inline void check_gradients(const GradientCase& c, uint64_t random_seed) {
  std::vector<Doubles> at;
  for (const Tensor& tensor : c.inputs) at.push_back(to_doubles(tensor));
  const Doubles expected = c.reference(at);

  // Plain: nothing watched.
  const std::vector<Value> constants(c.inputs.begin(), c.inputs.end());
  const Value plain = c.op(constants);
  EXPECT_FALSE(plain.watched());
  EXPECT_TRUE(all_close(plain.tensor, expected, c.forward_tolerance, c.forward_tolerance));

  // On a tape: the same result, and the gradient of every input.
  Tape tape;
  std::vector<Value> watched;
  for (const Tensor& tensor : c.inputs) watched.push_back(tape.watch(tensor));
  const Value output = c.op(watched);
  ASSERT_TRUE(output.watched());
  EXPECT_EQ(to_string(output.shape()), to_string(plain.shape()));
  EXPECT_TRUE(all_close(output.tensor, expected, c.forward_tolerance, c.forward_tolerance));
  const Tensor seed = random_tensor(output.shape(), random_seed);
  const std::vector<Tensor> gradients = tape.gradient(output, seed, watched);
  ASSERT_EQ(gradients.size(), c.inputs.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "gradient of input " << i);
    EXPECT_EQ(to_string(gradients[i].shape()), to_string(c.inputs[i].shape()));
    const Doubles numeric = central_differences(c, i, to_doubles(seed));
    const double bound = c.gradient_tolerance * largest_magnitude(numeric) + 1e-9;
    EXPECT_TRUE(all_close(gradients[i], numeric, bound));
    // One at a time, when the others are constants, it must be the same.
    Tape single;
    std::vector<Value> one = constants;
    one[i] = single.watch(c.inputs[i]);
    const Value alone = c.op(one);
    const Tensor gradient = single.gradient(alone, seed, {one[i]})[0];
    EXPECT_TRUE(all_close(gradient, to_doubles(gradients[i]), 1e-6 * largest_magnitude(numeric)));
  }
}

}  // namespace fovea::support
