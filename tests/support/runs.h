// Captured runs of made-up texts, for tests of views and drawings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "support/records.h"

namespace fovea::support {

// Words with their pieces divided by '|': {"chas|ing", "it"}. [X] is a special position.
inline Axis text_axis(const std::vector<std::string>& words, const std::string& name = "tokens") {
  Axis axis{.name = name, .source = "", .positions = {}};
  int64_t number = 0;
  for (const std::string& word : words) {
    if (word.starts_with('[') && word.ends_with(']')) {
      axis.positions.push_back({.text = word, .special = true});
      continue;
    }
    if (!axis.source.empty()) axis.source += ' ';
    bool first = true;
    for (size_t begin = 0; begin <= word.size();) {
      const size_t end = std::min(word.find('|', begin), word.size());
      const std::string piece = word.substr(begin, end - begin);
      const auto offset = static_cast<int64_t>(axis.source.size());
      axis.source += piece;
      axis.positions.push_back({.text = (first ? "" : "‿") + piece,
                                .source_begin = offset,
                                .source_end = static_cast<int64_t>(axis.source.size()),
                                .word = number});
      first = false;
      begin = end + 1;
    }
    ++number;
  }
  return axis;
}

// Self-attention of `heads` heads in `layers` layers over the words.
inline Run text_run(const std::vector<std::string>& words, int64_t heads = 2, bool causal = false,
                    int layers = 1) {
  Run run;
  run.model = "models/tiny";
  run.model_hash = "0123456789abcdef";
  run.axes = {text_axis(words)};
  const auto length = static_cast<int64_t>(run.axes[0].positions.size());
  for (int layer = 0; layer < layers; ++layer) {
    std::mt19937 random(static_cast<uint32_t>(7 + layer));
    AttentionCase c;
    c.shape = {heads, heads, length, length, 16, 16};
    c.rule.scale = 0.25F;
    if (causal) c.rule.mask = Mask::causal();
    c.queries = random_heads(random, {heads, length, 16}, 1.5, DType::kF32);
    c.keys = random_heads(random, {heads, length, 16}, 1.5, DType::kF32);
    c.values = random_heads(random, {heads, length, 16}, 1, DType::kF32);
    run.records.push_back(
        std::make_shared<const AttentionRecord>(record_of(c, {SiteKind::kSelf, layer})));
  }
  return run;
}

}  // namespace fovea::support
