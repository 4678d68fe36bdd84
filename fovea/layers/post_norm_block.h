// A block as in the first transformers and BERT: norms after the residuals.
#pragma once

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/feed_forward.h"

namespace fovea {

// x = norm(x + attention(x)); x = norm(x + feed_forward(x))
class PostNormBlock {
 public:
  PostNormBlock(AttentionLayer attention, Norm attention_norm, FeedForward feed_forward,
                Norm output_norm)
      : attention_(std::move(attention)),
        attention_norm_(std::move(attention_norm)),
        feed_forward_(std::move(feed_forward)),
        output_norm_(std::move(output_norm)) {}

  Value operator()(const Pass& pass, SiteId site, const Value& x,
                   const AttentionSetting& setting) const;

 private:
  AttentionLayer attention_;
  Norm attention_norm_;
  FeedForward feed_forward_;
  Norm output_norm_;
};

}  // namespace fovea
