// A model with a tower for pictures, a tower for texts, or both. With both, it compares their
// embeddings (CLIP and SigLIP).
#pragma once

#include <functional>
#include <optional>

#include "fovea/models/picture_model.h"

namespace fovea {

// What a tower makes from its input.
struct TowerOutputs {
  Value states;       // [positions, width]
  Value pooled;       // [1, width]; empty where nothing pools them
  Value before_norm;  // pictures: `states` before the norm of all positions
};

// One side of the model.
struct Tower {
  ModelFacts facts;  // as if it stood alone
  // `kind` says at which sites its blocks attend.
  std::function<TowerOutputs(const ModelInputs& inputs, const Pass& pass, SiteKind kind)> run;
  // Maps `pooled` into the space where pictures and texts are compared; none: the model has no
  // embedding.
  std::function<Value(const Value& pooled)> embed;
  // Makes classes from the states; none: the tower has no such head.
  FromStates classify;
};

// cosine * exp(log_scale) + bias; then the softmax over texts, or a sigmoid of each
struct Similarity {
  float log_scale = 0;
  float bias = 0;
  bool sigmoid = false;
};

class TowerModel final : public Model {
 public:
  // A model of one tower, at the sites self.L.
  TowerModel(const Config& config, Tower tower);
  // A model of both towers, at vision.self.L and text.self.L. Either input may be left out; its
  // tower then does not run, and there is no similarity.
  TowerModel(const Config& config, Tower picture, Tower text, Similarity similarity);

  const ModelFacts& facts() const override { return facts_; }
  ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const override;

 private:
  void check(const ModelInputs& inputs, const Pass& pass) const;
  ModelOutputs run_alone(const ModelInputs& inputs, const Pass& pass) const;

  Config config_;
  ModelFacts facts_;
  std::optional<Tower> picture_, text_;
  std::optional<Similarity> similarity_;  // only with both towers
};

}  // namespace fovea
