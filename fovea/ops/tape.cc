#include "fovea/ops/tape.h"

#include <utility>

#include "fovea/kernels/elementwise.h"

namespace fovea {
namespace {

Tape* joined(Tape* a, Tape* b) {
  if (a != nullptr && b != nullptr && a != b) {
    fail(ErrorKind::kInvalidArgument,
         "the inputs of one op are on two different tapes; watch them on the same one");
  }
  return a != nullptr ? a : b;
}

void accumulate(std::optional<Tensor>& sum, Tensor gradient) {
  if (!sum) {
    sum = std::move(gradient);
    return;
  }
  // A new tensor: the old one may be shared with the gradient of another node.
  Tensor total = Tensor::uninitialized(sum->shape());
  add_arrays(sum->values<float>(), gradient.values<float>(), total.mutable_values<float>());
  sum = std::move(total);
}

}  // namespace

int InputGradients::node_of(size_t input) const {
  return tape_.nodes_[op_].inputs[input];
}

bool InputGradients::wanted(size_t input) const {
  const int node = node_of(input);
  return node >= 0 && needed_[static_cast<size_t>(node)] != 0;
}

void InputGradients::add(size_t input, Tensor gradient) {
  if (!wanted(input)) return;
  const auto node = static_cast<size_t>(node_of(input));
  FOVEA_ASSERT(gradient.shape() == tape_.nodes_[node].shape);
  accumulate(gradients_[node], std::move(gradient));
}

Value Tape::next_value(Tensor tensor) {
  Value value(std::move(tensor));
  value.tape = this;
  value.node = node_count();
  return value;
}

Value Tape::watch(Tensor tensor) {
  if (tensor.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument,
         "a tensor of {} cannot be watched; gradients need F32, so convert it first",
         dtype_name(tensor.dtype()));
  }
  Value value = next_value(std::move(tensor));
  nodes_.push_back({.shape = value.shape(), .inputs = {}, .vjp = nullptr});
  return value;
}

Value Tape::record(Tensor output, std::vector<int> input_nodes, Vjp vjp, bool observed) {
  Value value = next_value(std::move(output));
  nodes_.push_back({.shape = value.shape(),
                    .inputs = std::move(input_nodes),
                    .vjp = std::move(vjp),
                    .observed = observed});
  return value;
}

Value Tape::observe(const Value& x, std::function<void(const Tensor& gradient)> see) {
  if (x.watched()) check_on_tape(x, "observed value");
  return record(
      x.tensor, {x.node},
      [see = std::move(see)](const Tensor& gradient, InputGradients& inputs) {
        see(gradient);
        inputs.add(0, gradient);
      },
      /*observed=*/true);
}

void Tape::check_on_tape(const Value& value, const char* role) const {
  if (value.tape != this) {
    fail(ErrorKind::kInvalidArgument,
         "the {} of shape {} is not on this tape; it must be watched or come from a watched value",
         role, to_string(value.shape()));
  }
}

// A node is needed if it is an input or observed, or depends on one that is: only there can a
// gradient flow to somebody who asked for it.
std::vector<char> Tape::nodes_leading_to(std::span<const Value> inputs) const {
  std::vector<char> needed(nodes_.size(), 0);
  for (const Value& input : inputs) needed[static_cast<size_t>(input.node)] = 1;
  for (size_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].observed) needed[node] = 1;
    for (const int input : nodes_[node].inputs) {
      if (input >= 0 && needed[static_cast<size_t>(input)] != 0) needed[node] = 1;
    }
  }
  return needed;
}

std::vector<Tensor> Tape::gradient(const Value& output, const Tensor& seed,
                                   std::span<const Value> inputs) const {
  check_on_tape(output, "output");
  for (const Value& input : inputs) check_on_tape(input, "input");
  if (!(seed.shape() == output.shape()) || seed.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument,
         "the seed is {} {} but the output is F32 {}; they must have the same shape and type",
         dtype_name(seed.dtype()), to_string(seed.shape()), to_string(output.shape()));
  }
  const std::vector<char> needed = nodes_leading_to(inputs);
  std::vector<char> is_input(nodes_.size(), 0);
  for (const Value& input : inputs) is_input[static_cast<size_t>(input.node)] = 1;

  std::vector<std::optional<Tensor>> gradients(nodes_.size());
  gradients[static_cast<size_t>(output.node)] = seed;
  for (int at = output.node; at >= 0; --at) {
    const auto node = static_cast<size_t>(at);
    if (!gradients[node] || needed[node] == 0) continue;
    if (nodes_[node].vjp) {
      InputGradients sink(*this, node, needed, gradients);
      nodes_[node].vjp(*gradients[node], sink);
    }
    if (is_input[node] == 0) gradients[node].reset();
  }

  std::vector<Tensor> result;
  result.reserve(inputs.size());
  for (const Value& input : inputs) {
    const auto node = static_cast<size_t>(input.node);
    result.push_back(gradients[node] ? *gradients[node] : Tensor(nodes_[node].shape));
  }
  return result;
}

Tape* common_tape(std::initializer_list<const Value*> values) {
  Tape* tape = nullptr;
  for (const Value* value : values) tape = joined(tape, value->tape);
  return tape;
}

Tape* common_tape(std::span<const Value> values) {
  Tape* tape = nullptr;
  for (const Value& value : values) tape = joined(tape, value.tape);
  return tape;
}

}  // namespace fovea
