// What methods see of the engine: one model and one input, run as often as they want.
#pragma once

#include "fovea/capture/subject.h"
#include "fovea/engine/engine.h"

namespace fovea {

class EngineSubject final : public Subject {
 public:
  EngineSubject(Engine engine, EncodedInput input, LogitRows logits)
      : engine_(std::move(engine)), input_(std::move(input)), logits_(logits) {}

  SubjectOutput run(const std::vector<Intervention>& changes,
                    const RecorderOptions& record) override;
  SubjectGradient gradient(const GradientRequest& request) override;
  bool multi_label() const override { return engine_.multi_label(); }

 private:
  Engine engine_;
  EncodedInput input_;
  LogitRows logits_;
};

// One vector for the whole input (embedding.h).
Tensor embedding_of(const Engine& engine, const RunResult& result);

}  // namespace fovea
