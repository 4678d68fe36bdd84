#include "fovea/engine/engine_gradient.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/base/team.h"
#include "fovea/engine/embedding.h"
#include "fovea/explain/target.h"
#include "fovea/layers/numeric_input.h"

namespace fovea {
namespace {

bool is_similarity(const Target& target) {
  return std::holds_alternative<SimilarityTarget>(target);
}

// Only the row that the target stands in.
LogitRows rows_for(const GradientRequest& request) {
  if (is_similarity(request.target)) return LogitRows::kNone;
  const auto* token = std::get_if<TokenTarget>(&request.target);
  if (token == nullptr || token->position < 0) return LogitRows::kAll;
  if (request.against) {
    const auto* other = std::get_if<TokenTarget>(&*request.against);
    if (other == nullptr || other->position != token->position) return LogitRows::kAll;
  }
  return logit_row(token->position);
}

void check_contrast(const GradientRequest& request) {
  if (!request.against || is_similarity(request.target) == is_similarity(*request.against)) return;
  fail(ErrorKind::kInvalidArgument,
       "a similarity and a logit are to be contrasted; give two of one kind");
}

// Where a target stands among all logits; target_value has checked that it is there.
int64_t place_of(const Target& target, const Tensor& logits) {
  const MatrixView<const float> rows = logits.matrix<float>();
  if (const auto* token = std::get_if<TokenTarget>(&target)) {
    return (rows.rows > 1 ? token->position * rows.cols : 0) + token->token;
  }
  if (const auto* box = std::get_if<BoxTarget>(&target)) return box->query * rows.cols + box->index;
  return std::get<ClassTarget>(target).index;
}

// d cos(a, b) / d a = (b / |b| - cos a / |a|) / |a|; 0 where a vector is.
void add_cosine_gradient(std::span<const float> a, std::span<const float> b, float factor,
                         std::span<float> sum) {
  double product = 0, square_a = 0, square_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * double{b[i]};
    square_a += double{a[i]} * double{a[i]};
    square_b += double{b[i]} * double{b[i]};
  }
  const double length = std::sqrt(square_a * square_b);
  if (length == 0) return;
  const double cosine = product / length;
  for (size_t i = 0; i < a.size(); ++i) {
    sum[i] += factor * static_cast<float>(double{b[i]} / length - cosine * double{a[i]} / square_a);
  }
}

// The output that the target is read from, and the target's gradient with respect to it.
struct Seed {
  Value output;
  Tensor gradient;
  double value = 0;
};

Seed seed_of(const GradientRequest& request, const ModelOutputs& outputs,
             const EmbeddingOutput& embedding) {
  const bool similar = is_similarity(request.target);
  SubjectOutput seen;
  seen.logits = outputs.logits.tensor;
  if (similar) seen.embedding = embedding.vector();
  Seed seed;
  seed.value = request.against
                   ? contrast_value(request.target, *request.against, seen, TargetMeasure::kLogit)
                   : target_value(request.target, seen, TargetMeasure::kLogit);
  seed.output = similar ? embedding.output : outputs.logits;
  Tensor gradient(similar ? seen.embedding.shape() : seen.logits.shape());
  const std::span<float> sum = gradient.mutable_values<float>();
  const auto add = [&](const Target& target, float factor) {
    if (const auto* wanted = std::get_if<SimilarityTarget>(&target)) {
      add_cosine_gradient(seen.embedding.values<float>(), wanted->against, factor, sum);
    } else {
      sum[static_cast<size_t>(place_of(target, seen.logits))] += factor;
    }
  };
  add(request.target, 1);
  if (request.against) add(*request.against, -1);
  seed.gradient = similar ? embedding.spread(gradient) : gradient;
  return seed;
}

// Which axis an input feeds, and how.
InputGradient described(const Engine& engine, const EncodedInput& input, std::string_view name) {
  const ModelFacts& facts = engine.facts();
  InputGradient result{.name = std::string(name)};
  if (name == kPixelValues) {
    result.axis = input.patches.name;
    result.grid_rows = input.patches.grid_rows;
    result.grid_cols = input.patches.grid_cols;
    result.cell_height = facts.objects ? facts.objects->stride : facts.picture->patch_height;
    result.cell_width = facts.objects ? facts.objects->stride : facts.picture->patch_width;
  } else if (name == kInputFeatures) {
    result.axis = "source";
    result.grid_rows = 1;
    result.grid_cols = facts.sound->positions;
    result.cell_height = input.inputs.input_features.size(0);
    result.cell_width = input.inputs.input_features.size(1) / facts.sound->positions;
  } else if (name == kDecoderInputsEmbeds) {
    result.axis = "target";
  } else {
    result.axis = facts.has_decoder() ? "source" : "tokens";
  }
  return result;
}

void check_read(const GradientRequest& request, const NumericInputs& numbers) {
  for (const auto& [name, tensor] : request.at) {
    if (!numbers.read.contains(name)) {
      fail(ErrorKind::kInvalidArgument,
           "{} is given but this run of the model does not read it; leave it out", name);
    }
  }
}

SubjectGradient follow_gradient(const Engine& engine, const EncodedInput& input,
                                const GradientRequest& request) {
  Tape tape;
  NumericInputs numbers;
  numbers.given.insert(request.at.begin(), request.at.end());
  Recorder recorder(request.record.value_or(RecorderOptions()));
  // Every attention is met on the way there and on the way back.
  Progress progress("following the gradient", 2 * engine.facts().attentions());
  const Pass pass{.recorder = request.record ? &recorder : nullptr,
                  .logits = rows_for(request),
                  .tape = &tape,
                  .inputs = &numbers,
                  .progress = &progress};
  const ModelOutputs outputs = engine.model().forward(input.inputs, pass);
  check_read(request, numbers);
  const Seed seed =
      seed_of(request, outputs, embedding_output(engine.facts(), input.inputs, outputs));

  std::vector<Value> wanted;
  if (request.inputs) {
    for (const auto& [name, value] : numbers.read) wanted.push_back(value);
  }
  std::vector<Tensor> gradients = tape.gradient(seed.output, seed.gradient, wanted);
  SubjectGradient result{.value = seed.value};
  if (request.inputs) {
    auto gradient = gradients.begin();
    for (const auto& [name, value] : numbers.read) {
      InputGradient one = described(engine, input, name);
      one.values = value.tensor;
      one.gradient = std::move(*gradient++);
      result.inputs.push_back(std::move(one));
    }
  }
  result.records = recorder.take();
  return result;
}

}  // namespace

SubjectGradient engine_gradient(const Engine& engine, const EncodedInput& input,
                                const GradientRequest& request) {
  check_contrast(request);
  return run_on_team([&] { return follow_gradient(engine, input, request); });
}

}  // namespace fovea
