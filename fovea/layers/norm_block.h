// Blocks of attention and a feed-forward part: where norms stand, and whether both parts read the
// same states.
#pragma once

#include <optional>
#include <variant>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/feed_forward.h"

namespace fovea {

// As in GPT-2 and vision transformers: x += attention(norm(x)); x += feed_forward(norm(x))
class PreNormBlock {
 public:
  PreNormBlock(std::optional<Norm> attention_norm, AttentionLayer attention, Norm output_norm,
               AnyFeedForward feed_forward)
      : attention_norm_(std::move(attention_norm)),
        attention_(std::move(attention)),
        output_norm_(std::move(output_norm)),
        feed_forward_(std::move(feed_forward)) {}

  // Each part is added to what its norm gives, not to what the norm reads (an option of BLOOM).
  void add_to_norms() { adds_to_norms_ = true; }

  Value operator()(const Pass& pass, SiteId site, const Value& x,
                   const AttentionSetting& setting) const;

 private:
  bool adds_to_norms_ = false;
  std::optional<Norm> attention_norm_;  // none: what comes in is normalised already (ModernBERT)
  AttentionLayer attention_;
  Norm output_norm_;
  AnyFeedForward feed_forward_;
};

// As in the first transformers and BERT: x = norm(x + attention(x)); x = norm(x + feed_forward(x))
class PostNormBlock {
 public:
  PostNormBlock(AttentionLayer attention, Norm attention_norm, AnyFeedForward feed_forward,
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
  AnyFeedForward feed_forward_;
  Norm output_norm_;
};

// As in GPT-J: x += attention(norm(x)) + feed_forward(norm(x)), both of the same x.
class ParallelBlock {
 public:
  // Without `feed_forward_norm` both parts read what `attention_norm` gives.
  ParallelBlock(Norm attention_norm, AttentionLayer attention,
                std::optional<Norm> feed_forward_norm, AnyFeedForward feed_forward)
      : attention_norm_(std::move(attention_norm)),
        attention_(std::move(attention)),
        feed_forward_norm_(std::move(feed_forward_norm)),
        feed_forward_(std::move(feed_forward)) {}

  Value operator()(const Pass& pass, SiteId site, const Value& x,
                   const AttentionSetting& setting) const;

 private:
  Norm attention_norm_;
  AttentionLayer attention_;
  std::optional<Norm> feed_forward_norm_;
  AnyFeedForward feed_forward_;
};

// Norms of what each part gives, before it is added: x += norm(attention(x)); x +=
// norm(feed_forward(x)), as in OLMo 2. Gemma has norms of what each part reads too.
class ResultNormBlock {
 public:
  struct Norms {
    std::optional<Norm> before;
    Norm after;
  };
  ResultNormBlock(Norms attention_norms, AttentionLayer attention, Norms feed_forward_norms,
                  AnyFeedForward feed_forward)
      : attention_norms_(std::move(attention_norms)),
        attention_(std::move(attention)),
        feed_forward_norms_(std::move(feed_forward_norms)),
        feed_forward_(std::move(feed_forward)) {}

  Value operator()(const Pass& pass, SiteId site, const Value& x, AttentionSetting setting) const;

 private:
  Norms attention_norms_;
  AttentionLayer attention_;
  Norms feed_forward_norms_;
  AnyFeedForward feed_forward_;
};

using AnyBlock = std::variant<PreNormBlock, PostNormBlock, ParallelBlock, ResultNormBlock>;

}  // namespace fovea
