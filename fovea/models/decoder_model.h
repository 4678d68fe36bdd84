// A causal text model of words, a stack of blocks, a norm and a head. Most decoders are one.
#pragma once

#include <string_view>

#include "fovea/layers/rope_decoder.h"
#include "fovea/models/text_model.h"

namespace fovea {

struct DecoderParts {
  AttentionSizes sizes;
  StoredMatrix words;
  float words_scale = 1;
  std::optional<Norm> words_norm = {};
  TextStack stack;
  std::optional<Norm> norm = {};  // after the last block
  int64_t trained_tokens = 0;     // longest text in training, as config.json says
};

// How the scores of words are made.
struct DecoderHeadOptions {
  float soft_cap = 0;
  float scale = 1;
  bool bias = false;  // "lm_head.bias"
};
// The next word or classes, with the names that decoders share: lm_head, score, classifier.
TextHead decoder_head(const ModelSource& source, const StoredMatrix& words,
                      const DecoderHeadOptions& options = {});

std::unique_ptr<Model> decoder_model(const ModelSource& source, DecoderParts parts, TextHead head);

// Of Llama's form and names; the files of Llama, Mistral, Qwen and others say how they differ.
struct RopeModelOptions {
  RopeDecoderOptions decoder = {};
  float words_scale = 1;
  DecoderHeadOptions head = {};
  int64_t trained_tokens = 2048;  // if max_position_embeddings is missing
};
std::unique_ptr<Model> rope_model(const ModelSource& source, const RopeModelOptions& options);

}  // namespace fovea
