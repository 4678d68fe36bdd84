// Blocks of a stack as a gradient run takes them: what happens inside is not remembered but
// computed once more on the way back, so that memory is that of the blocks' inputs and of one block
// (Chen et al. 2016, arXiv:1604.06174).
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "fovea/layers/pass.h"
#include "fovea/ops/tape.h"

namespace fovea {

struct AttentionSetting;

// What a block and its attentions gave when it was first run, so that only the rest of it is
// computed again.
struct KnownResults {
  struct Attention {
    Tensor output;  // [heads, rows, value_dim]
    Tensor lse;
  };
  std::map<SiteId, Attention> attentions;
  Tensor output;  // the block's
};

// block(pass, x), and nothing else in a plain run. In a gradient run the block is called again by
// the tape, so it must hold by value all that does not live as long as the model, and use the pass
// and the input that it is given.
using Block = std::function<Value(const Pass& pass, const Value& x)>;
Value run_block(const Pass& pass, const Value& x, Block block);

// The same of a block that reads `memory` beside its input: a decoder's, of an encoder.
using MemoryBlock = std::function<Value(const Pass& pass, const Value& x, const Value& memory)>;
Value run_block(const Pass& pass, const Value& x, const Value& memory, MemoryBlock block);

// Blocks one after the other, at the sites KIND.0, KIND.1, ... They must live as long as the model.
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

// What the block that is run again gave, for its last step, which then need not be computed; empty
// when it is run for the first time.
Tensor known_output(const Pass& pass);

}  // namespace fovea
