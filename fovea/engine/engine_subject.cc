#include "fovea/engine/engine_subject.h"

#include <algorithm>

namespace fovea {
namespace {

Tensor mean_state(const Tensor& states, const std::vector<int64_t>& attention_mask) {
  const MatrixView<const float> rows = states.matrix<float>();
  std::vector<double> sum(static_cast<size_t>(rows.cols));
  int64_t count = 0;
  for (int64_t i = 0; i < rows.rows; ++i) {
    if (!attention_mask.empty() && attention_mask[static_cast<size_t>(i)] == 0) continue;
    ++count;
    for (int64_t c = 0; c < rows.cols; ++c) sum[static_cast<size_t>(c)] += double{rows(i, c)};
  }
  Tensor mean = Tensor::uninitialized({rows.cols});
  for (size_t c = 0; c < sum.size(); ++c) {
    mean.mutable_values<float>()[c] =
        static_cast<float>(sum[c] / static_cast<double>(std::max<int64_t>(count, 1)));
  }
  return mean;
}

Tensor last_state(const Tensor& states) {
  const MatrixView<const float> rows = states.matrix<float>();
  return Tensor::from({rows.cols},
                      std::span(rows.row(rows.rows - 1), static_cast<size_t>(rows.cols)));
}

// What each stack gave, by the kind of its sites.
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

}  // namespace

Tensor embedding_of(const Engine& engine, const RunResult& result) {
  const ModelOutputs& outputs = result.outputs;
  for (const Value* value : {&outputs.image_embeds, &outputs.text_embeds, &outputs.pooler_output}) {
    if (!value->tensor.empty()) return value->tensor.reshaped({value->tensor.elements()});
  }
  const Tensor& states = outputs.last_hidden_state.tensor;
  if (states.rank() != 2) return {};
  if (engine.facts().causal || engine.facts().has_decoder()) return last_state(states);
  return mean_state(states, result.inputs.attention_mask);
}

SubjectOutput EngineSubject::run(const std::vector<Intervention>& changes,
                                 const RecorderOptions& record, const CancelToken& cancel) {
  RunResult result = engine_.run(
      input_, {.cancel = cancel, .record = record, .logits = logits_, .changes = changes});
  SubjectOutput output;
  output.logits = result.outputs.logits.tensor;
  output.boxes = result.outputs.pred_boxes.tensor;
  output.embedding = embedding_of(engine_, result);
  output.states = states_of(engine_.facts(), result.outputs);
  output.records = std::move(result.run.records);
  return output;
}

}  // namespace fovea
