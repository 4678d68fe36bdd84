// Blocks of attention and a feed-forward part, with norms before or after each.
#pragma once

#include <variant>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/feed_forward.h"

namespace fovea {

// As in GPT-2 and vision transformers: x += attention(norm(x)); x += feed_forward(norm(x))
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

// As in the first transformers and BERT: x = norm(x + attention(x)); x = norm(x + feed_forward(x))
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
