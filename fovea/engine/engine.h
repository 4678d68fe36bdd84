// What every front end uses: open a model, run an input, read its maps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/capture/run.h"
#include "fovea/capture/subject.h"
#include "fovea/checkpoint/checkpoint.h"
#include "fovea/engine/encoded_input.h"
#include "fovea/generate/generate.h"
#include "fovea/generate/generation_config.h"
#include "fovea/layers/encoded_source.h"
#include "fovea/models/model.h"
#include "fovea/tensor/large_blocks.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct EngineOptions {
  DType compute = DType::kF32;  // what matrix products multiply; or I16
};

struct RunOptions {
  RecorderOptions record;
  LogitRows logits = LogitRows::kNone;
  std::vector<Intervention> changes;  // none: the model as it is
};

// What a run gave: the records and axes, and the outputs.
struct RunResult {
  Run run;
  ModelInputs inputs;
  ModelOutputs outputs;
  std::vector<int64_t> generated;               // what a generation wrote
  std::vector<double> generated_probabilities;  // what the model gave each of these
  std::vector<std::string> warnings;
  bool unlike_training = false;  // a picture that the model was not made for: a warning says so

  AttentionMap map(SiteId site, int64_t head) const { return {run.record(site), head}; }
};

// Copies share the model. Const members may be called from any thread.
class Engine {
 public:
  // Opens the model that resolve_model() finds under `name`. Throws what finding, opening and
  // building it throw.
  static Engine open(std::string_view name, const EngineOptions& options = {});
  // The same model with random weights, as before training (checkpoint/random_weights.h), to
  // compare results with. With `chosen`, only the tensors that it picks by their names in the file
  // become random.
  Engine with_random_weights(uint64_t seed,
                             std::function<bool(std::string_view name)> chosen = nullptr) const;

  const std::string& name() const { return state_->name; }
  const EngineOptions& options() const { return state_->options; }
  const Checkpoint& checkpoint() const { return state_->checkpoint; }
  const Architecture& architecture() const { return state_->architecture; }
  const Model& model() const { return *state_->model; }
  const ModelFacts& facts() const { return state_->model->facts(); }
  // The fingerprint of the weights and the configuration (checkpoint/fingerprint.h). Computed on
  // the first call.
  const std::string& model_hash() const;
  // The model's tokenizer, read on the first call. Throws as tokenizer_of() does.
  const Tokenizer& tokenizer() const;
  // The same, or null if the model has none.
  const Tokenizer* find_tokenizer() const;
  // The tokenizer of the texts that the decoder reads and writes. In most models it is the same
  // one.
  const Tokenizer& target_tokenizer() const;
  const Tokenizer* find_target_tokenizer() const;
  // How the model's authors want it to generate text. Throws as open_generation_config() does.
  GenerationConfig generation_config() const;
  // The names of the classes, from id2label. Empty if the model has none or only placeholders.
  std::vector<std::string> labels() const;
  // Whether several classes may hold at once. Their probabilities are then sigmoids, not a softmax.
  bool multi_label() const;

  // Warnings for a text of so many tokens. Usually there are none.
  std::vector<std::string> length_warnings(int64_t tokens) const;

  // Turns a text, or a text and its pair, into tokens. Pads it if the model was trained so
  // (SigLIP). Throws Error{kInvalidArgument} if the text gives no tokens or the model only sees
  // pictures.
  EncodedInput encode(std::string_view text, std::optional<std::string_view> pair = {}) const;

  // Adds to ids, features and pixels the axes that name their positions.
  EncodedInput label(const ModelInputs& inputs) const;

  RunResult run(const EncodedInput& input, const RunOptions& options = {}) const;
  // The encoder alone of a model with a decoder of text.
  void run_encoder(const EncodedInput& input, Recorder& recorder) const;
  // The same of a model with a decoder whose source is encoded already, its records in `recorder`.
  RunResult run_decoder(const EncodedInput& input, const EncodedSource& source, Recorder& recorder,
                        const RunOptions& options = {}) const;
  RunResult run(const ModelInputs& inputs, const RunOptions& options = {}) const;
  // Runs several texts at once, without padding, as fast as one text of their joint length. Gives
  // each record to options.give_to with the number of its text, and stops after the last record
  // that is wanted. Throws Error{kUnsupported} for models whose texts cannot stand side by side;
  // run those one by one.
  void run_packed(std::span<const EncodedInput> texts, const RecorderOptions& options) const;
  // Lets the model continue the text, and records one map over all steps. The caller shows length
  // warnings before.
  RunResult generate(const EncodedInput& input, GenerateOptions how,
                     const RunOptions& options = {}) const;

 private:
  struct State;
  explicit Engine(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  // Builds the model; everything else in `state` must be set.
  static Engine build(std::shared_ptr<State> state);
  std::vector<Axis> axes_of(const EncodedInput& input) const;
  RunResult result_of(const EncodedInput& input, Recorder& recorder, ModelOutputs outputs) const;

  struct State {
    std::string name;
    ReuseLargeBlocks reuse;  // the next run uses the memory that this one frees
    EngineOptions options;
    std::optional<uint64_t> random_seed;  // set if weights are random
    bool partly_random = false;
    Checkpoint checkpoint;
    Architecture architecture;
    std::unique_ptr<const Model> model;
    struct Lazy;
    std::shared_ptr<Lazy> lazy;
  };
  std::shared_ptr<const State> state_;
};

}  // namespace fovea
