#include "fovea/layers/run_block.h"

#include <memory>
#include <utility>
#include <vector>

namespace fovea {

Value run_block(const Pass& pass, const Value& x, Block block) {
  if (pass.tape == nullptr) return block(pass, x);
  return run_block(pass, x, {},
                   [block = std::move(block)](const Pass& run, const Value& in, const Value&) {
                     return block(run, in);
                   });
}

Value run_block(const Pass& pass, const Value& x, const Value& memory, MemoryBlock block) {
  if (pass.tape == nullptr) return block(pass, x, memory);
  const auto known = std::make_shared<KnownResults>();
  Pass first = pass;
  first.tape = nullptr;
  first.recorder = nullptr;
  first.known = known.get();
  known->output = block(first, x.tensor, memory.tensor).tensor;

  auto vjp = [block = std::move(block), known, again = pass, x = x.tensor, memory = memory.tensor](
                 const Tensor& gradient, InputGradients& wanted) {
    Tape tape;
    Pass run = again;
    run.tape = &tape;
    run.known = known.get();
    std::vector<Value> inputs{x, memory}, watched;
    std::vector<size_t> places;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!wanted.wanted(i)) continue;
      inputs[i] = tape.watch(inputs[i].tensor);
      watched.push_back(inputs[i]);
      places.push_back(i);
    }
    const Value result = block(run, inputs[0], inputs[1]);
    if (!result.watched()) return;
    std::vector<Tensor> gradients = tape.gradient(result, gradient, watched);
    for (size_t i = 0; i < places.size(); ++i) wanted.add(places[i], std::move(gradients[i]));
  };
  // Records are made while the gradient passes through.
  return pass.tape->record(known->output, {x.node, memory.node}, std::move(vjp),
                           /*observed=*/pass.recorder != nullptr);
}

Tensor known_output(const Pass& pass) {
  return pass.known != nullptr && pass.tape != nullptr ? pass.known->output : Tensor();
}

}  // namespace fovea
