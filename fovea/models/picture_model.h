// What all picture models of one stack share: checking the input, running the stack, and the head.
#pragma once

#include <functional>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/picture_embedding.h"
#include "fovea/models/model.h"

namespace fovea {

// Makes an output, [width] or [classes], from the states [positions, width].
using FromStates = std::function<Value(const Value& states)>;

// The states [tokens in front + patches, width] after the last block, before and after the final
// norm.
struct PictureStates {
  Value before_norm;
  Value normed;
};

class PictureModel : public Model {
 public:
  const ModelFacts& facts() const final { return facts_; }
  ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const final;

 protected:
  explicit PictureModel(const ModelSource& source) : config_(source.config) {}
  // For constructors, once the parts are loaded.
  void set_facts(const ModelFacts& facts) { facts_ = facts; }
  void set_pooler(FromStates pool) { pool_ = std::move(pool); }
  void set_classes(FromStates classify);

  virtual PictureStates hidden(const Value& pixels, const Pass& pass) const = 0;

 private:
  Config config_;
  ModelFacts facts_;
  FromStates pool_, classify_;
};

// The facts of such a stack of `layers`; the caller adds the rest. Learned positions are resized
// only if their grid is square, as in transformers.
ModelFacts picture_facts(const AttentionSizes& sizes, int64_t layers, const PatchSizes& patches,
                         std::vector<std::string> front_tokens);

// How patches attend: scores are `scale` q . k, every position sees every other, and rows and
// columns run along "patches".
AttentionSetting patch_setting(const AttentionSizes& sizes);

// The mean of the rows of x [rows, width] from `begin` on, as [1, width].
Value mean_of_rows(const Value& x, int64_t begin);

}  // namespace fovea
