// Runs the blocks of a stack. A gradient run does not remember what happens inside a block: it
// computes the block once more on the way back (Chen et al. 2016, arXiv:1604.06174). Memory is then
// that of the blocks' inputs and of one block.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "fovea/layers/pass.h"
#include "fovea/ops/tape.h"

namespace fovea {

struct AttentionSetting;

// What a block and its attentions gave in the first run. The second run takes these and computes
// only the rest.
struct KnownResults {
  struct Attention {
    Tensor output;  // [heads, rows, value_dim]
    Tensor lse;
  };
  std::map<SiteId, Attention> attentions;
  Tensor output;  // the block's
};

// In a plain run this is just block(pass, x). In a gradient run the tape calls the block again,
// later. So the block must hold by value everything that does not live as long as the model, and
// use the pass and the input that it is given.
using Block = std::function<Value(const Pass& pass, const Value& x)>;
Value run_block(const Pass& pass, const Value& x, Block block);

// The same for a block that also reads `memory`: a decoder's block, which reads the encoder's
// states.
using MemoryBlock = std::function<Value(const Pass& pass, const Value& x, const Value& memory)>;
Value run_block(const Pass& pass, const Value& x, const Value& memory, MemoryBlock block);

// Runs blocks one after the other, at the sites KIND.0, KIND.1, ... The blocks must live as long as
// the model.
template <typename AnyBlock, typename Setting = AttentionSetting>
Value run_blocks(const std::vector<AnyBlock>& blocks, const Pass& pass, SiteKind kind, Value x,
                 const Setting& setting) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const SiteId site{kind, static_cast<int>(i)};
    x = run_block(pass, x, [block = &blocks[i], site, setting](const Pass& run, const Value& in) {
      return (*block)(run, site, in, setting);
    });
  }
  return x;
}

// The result of the block that runs again: its last step need not compute it. Empty in the first
// run.
Tensor known_output(const Pass& pass);

}  // namespace fovea
