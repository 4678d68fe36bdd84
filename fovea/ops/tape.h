// Gradients by vector-Jacobian products. An op takes and gives Values; when one of its inputs is on
// a tape, the op is recorded there as one node, otherwise nothing is recorded or kept.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

class Tape;

// A tensor, and where it stands on a tape if it is watched. Made from a plain tensor it is a
// constant. An empty tensor stands for an argument that is left out (a linear layer without bias).
struct Value {
  Value() = default;
  Value(Tensor plain) : tensor(std::move(plain)) {}  // NOLINT(google-explicit-constructor)

  const Shape& shape() const { return tensor.shape(); }
  bool watched() const { return tape != nullptr; }

  Tensor tensor;
  Tape* tape = nullptr;  // must outlive the value
  int node = -1;
};

// Where an op's vector-Jacobian product writes: one slot per input of the op.
class InputGradients {
 public:
  // Whether anyone asked for what lies behind this input; if not, its gradient need not be
  // computed.
  bool wanted(size_t input) const;
  // Adds to the gradient of that input; the shape must be the input's.
  void add(size_t input, Tensor gradient);

 private:
  friend class Tape;
  InputGradients(const Tape& tape, size_t op, const std::vector<char>& needed,
                 std::vector<std::optional<Tensor>>& gradients)
      : tape_(tape), op_(op), needed_(needed), gradients_(gradients) {}
  int node_of(size_t input) const;
  const Tape& tape_;
  size_t op_;
  const std::vector<char>& needed_;
  std::vector<std::optional<Tensor>>& gradients_;
};

// Records ops in the order they ran. watch() and record() are for one thread; gradient() may then
// be called from any, as often as wanted.
class Tape {
 public:
  // Given the gradient with respect to the op's output, adds those with respect to its inputs.
  // Holds the tensors that this needs and no others.
  using Vjp = std::function<void(const Tensor& gradient, InputGradients& inputs)>;

  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Starts to follow a tensor. Throws Error{kInvalidArgument} unless it is f32.
  Value watch(Tensor tensor);

  // seed^T d output / d input, for each of `inputs` (watched values or any later ones). An input
  // that the output does not depend on gets zeros. Throws Error{kInvalidArgument} if a value is not
  // on this tape or the seed does not have the output's shape.
  std::vector<Tensor> gradient(const Value& output, const Tensor& seed,
                               std::span<const Value> inputs) const;
  std::vector<Tensor> gradient(const Value& output, const Tensor& seed,
                               std::initializer_list<Value> inputs) const {
    return gradient(output, seed, std::span<const Value>(inputs.begin(), inputs.size()));
  }

  // The same value, watched: every gradient() that reaches it gives `see` the gradient with respect
  // to it, whatever inputs were asked for. A constant is followed from here on.
  Value observe(const Value& x, std::function<void(const Tensor& gradient)> see);

  // For ops: `output` came from the values with these node numbers (-1: a constant). `observed`:
  // the product is called even if none of them leads to an input that was asked for.
  Value record(Tensor output, std::vector<int> input_nodes, Vjp vjp, bool observed = false);

  int node_count() const { return static_cast<int>(nodes_.size()); }

 private:
  friend class InputGradients;
  struct Node {
    Shape shape;
    std::vector<int> inputs;
    Vjp vjp;  // empty for a watched tensor
    bool observed = false;
  };
  void check_on_tape(const Value& value, const char* role) const;
  std::vector<char> nodes_leading_to(std::span<const Value> inputs) const;
  Value next_value(Tensor tensor);
  std::vector<Node> nodes_;
};

// For ops: the tape that these values are on, or null if all are constants. Throws
// Error{kInvalidArgument} if they are on different tapes.
Tape* common_tape(std::initializer_list<const Value*> values);
Tape* common_tape(std::span<const Value> values);

}  // namespace fovea
