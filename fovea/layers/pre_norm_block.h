// A block as in GPT-2 and vision transformers: norms before each part, which adds to what it got.
#pragma once

#include <variant>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/feed_forward.h"

namespace fovea {

// x += attention(norm(x)); x += feed_forward(norm(x))
class PreNormBlock {
 public:
  using AnyFeedForward = std::variant<FeedForward, GatedFeedForward>;

  PreNormBlock(Norm attention_norm, AttentionLayer attention, Norm output_norm,
               AnyFeedForward feed_forward)
      : attention_norm_(std::move(attention_norm)),
        attention_(std::move(attention)),
        output_norm_(std::move(output_norm)),
        feed_forward_(std::move(feed_forward)) {}

  Value operator()(const Pass& pass, SiteId site, const Value& x,
                   const AttentionSetting& setting) const;

 private:
  Norm attention_norm_;
  AttentionLayer attention_;
  Norm output_norm_;
  AnyFeedForward feed_forward_;
};

}  // namespace fovea
