// What all models of one stack that see a picture share: checking the input, running the stack, and
// what stands on top of it.
#pragma once

#include <functional>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/picture_embedding.h"
#include "fovea/models/model.h"

namespace fovea {

// Something out of the states [positions, width]: [width] or [classes].
using FromStates = std::function<Value(const Value& states)>;

// [tokens in front + patches, width] after the last block, without and with the final norm.
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

// What such a stack of `layers` is like; the caller adds the rest. Positions are resized only from
// square grids, as in transformers.
ModelFacts picture_facts(const AttentionSizes& sizes, int64_t layers, const PatchSizes& patches,
                         std::vector<std::string> front_tokens);

// `scale` q . k, every position sees every other, rows and columns along "patches".
AttentionSetting patch_setting(const AttentionSizes& sizes);

// The mean of rows `begin` to the last of x [rows, width], as [1, width].
Value mean_of_rows(const Value& x, int64_t begin);

}  // namespace fovea
