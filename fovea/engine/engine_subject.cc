#include "fovea/engine/engine_subject.h"

#include "fovea/engine/changed_inputs.h"
#include "fovea/engine/embedding.h"
#include "fovea/engine/engine_gradient.h"

namespace fovea {
namespace {

// The states that each stack gave, by the kind of its sites.
std::map<SiteKind, Tensor> states_of(const ModelFacts& facts, const ModelOutputs& outputs) {
  const Tensor& last = outputs.last_hidden_state.tensor;
  if (facts.has_decoder() || facts.finds_objects()) {
    return {{SiteKind::kEncoderSelf, outputs.encoder_last_hidden_state.tensor},
            {SiteKind::kDecoderSelf, last}};
  }
  if (facts.has_text_tower()) {
    return {{SiteKind::kVisionSelf, last},
            {SiteKind::kTextSelf, outputs.text_last_hidden_state.tensor}};
  }
  return {{SiteKind::kSelf, last}};
}

// Blanks all positions that are not special.
std::vector<Intervention> blanks_of(const EncodedInput& input) {
  std::vector<Intervention> blanks;
  const auto add = [&](const Axis& axis, const std::string& name) {
    for (size_t i = 0; i < axis.positions.size(); ++i) {
      if (axis.positions[i].special) continue;
      blanks.emplace_back(BlankPosition{name, static_cast<int64_t>(i)});
    }
  };
  add(input.axis, input.axis.name);
  add(input.target, "target");  // by itself it is called tokens too
  add(input.patches, input.patches.name);
  return blanks;
}

}  // namespace

Tensor embedding_of(const Engine& engine, const RunResult& result) {
  return embedding_output(engine.facts(), result.inputs, result.outputs).vector();
}

SubjectOutput EngineSubject::run(const std::vector<Intervention>& changes,
                                 const RecorderOptions& record) {
  RunResult result = engine_.run(input_, {.record = record, .logits = logits_, .changes = changes});
  SubjectOutput output;
  output.logits = result.outputs.logits.tensor;
  output.boxes = result.outputs.pred_boxes.tensor;
  output.embedding = embedding_of(engine_, result);
  output.states = states_of(engine_.facts(), result.outputs);
  output.records = std::move(result.run.records);
  return output;
}

SubjectGradient EngineSubject::gradient(const GradientRequest& request) {
  if (!request.blank) return engine_gradient(engine_, input_, request);
  EncodedInput blank = input_;
  blank.inputs = changed_inputs(engine_, input_, blanks_of(input_));
  return engine_gradient(engine_, blank, request);
}

}  // namespace fovea
