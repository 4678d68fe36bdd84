#include "fovea/layers/pre_norm_block.h"

#include "fovea/layers/run_block.h"

namespace fovea {

Value PreNormBlock::operator()(const Pass& pass, SiteId site, const Value& x,
                               const AttentionSetting& setting) const {
  const Value attended = attention_(pass, site, attention_norm_(x), setting, x);
  return std::visit(
      [&](const auto& part) { return part(output_norm_(attended), attended, known_output(pass)); },
      feed_forward_);
}

Value run_blocks(const std::vector<PreNormBlock>& blocks, const Pass& pass, SiteKind kind, Value x,
                 const AttentionSetting& setting) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    const SiteId site{kind, static_cast<int>(i)};
    x = run_block(pass, x, [block = &blocks[i], site, setting](const Pass& run, const Value& in) {
      return (*block)(run, site, in, setting);
    });
  }
  return x;
}

}  // namespace fovea
