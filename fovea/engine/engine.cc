#include "fovea/engine/engine.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/base/team.h"
#include "fovea/checkpoint/fingerprint.h"
#include "fovea/checkpoint/random_weights.h"
#include "fovea/engine/changed_inputs.h"
#include "fovea/engine/model_tokenizer.h"
#include "fovea/engine/patch_axis.h"
#include "fovea/engine/text_axis.h"
#include "fovea/layers/interventions.h"
#include "fovea/models/seq2seq_model.h"

namespace fovea {

// Parts that are read only on demand. A part that could not be read is tried again next time. This
// does not use std::call_once, which with sanitizers and in some C libraries does not survive an
// exception.
struct Engine::State::Lazy {
  template <typename Value>
  struct Once {
    std::mutex mutex;
    std::optional<Value> value;

    template <typename Make>
    const Value& get(const Make& make) {
      const std::lock_guard lock(mutex);
      if (!value) value.emplace(make());
      return *value;
    }
  };
  Once<Tokenizer> tokenizer, target_tokenizer;
  Once<std::string> hash;
};

namespace {

// An unknown architecture is reported before missing weights.
void check_architecture(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  if (file_exists(path)) architecture_named(Config::open(path));
}

// Labels such as "LABEL_0" say nothing.
bool is_placeholder(std::string_view label) {
  return label.starts_with("LABEL_");
}

// The tokenizer that `find` gives, or null if there is none that fovea reads.
template <typename Find>
const Tokenizer* or_null(const Find& find) {
  try {
    return &find();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kNotFound || error.kind() == ErrorKind::kUnsupported) {
      return nullptr;
    }
    throw;
  }
}

// Pads to the length that the model was trained on, if it knows no other.
void fill_up(EncodedInput& input, const TextFacts& facts, const Tokenizer& tokenizer) {
  if (facts.padding_id < 0 || input.inputs.tokens() >= facts.most_tokens) return;
  const std::vector<int64_t> padding(static_cast<size_t>(facts.most_tokens - input.inputs.tokens()),
                                     facts.padding_id);
  for (Position& position : ids_axis(&tokenizer, padding).positions) {
    position.special = true;
    position.source_begin = position.source_end = static_cast<int64_t>(input.axis.source.size());
    input.axis.positions.push_back(std::move(position));
  }
  input.inputs.input_ids.insert(input.inputs.input_ids.end(), padding.begin(), padding.end());
}

}  // namespace

Engine Engine::open(std::string_view name, const EngineOptions& options) {
  auto state = std::make_shared<State>();
  state->name = name;
  state->options = options;
  check_architecture(resolve_model(name).folder);
  state->checkpoint = open_checkpoint(name);
  state->architecture = architecture_named(state->checkpoint.config);
  return build(std::move(state));
}

Engine Engine::with_random_weights(uint64_t seed,
                                   std::function<bool(std::string_view name)> chosen) const {
  auto state = std::make_shared<State>();
  state->name = fmt::format("{} with random weights", name());
  state->options = state_->options;
  state->random_seed = seed;
  state->partly_random = chosen != nullptr;
  state->checkpoint = checkpoint();
  RandomWeights how{.seed = seed, .chosen = std::move(chosen)};
  how.deviation = checkpoint().config.get_double("initializer_range", how.deviation);
  state->checkpoint.weights = random_weights(checkpoint().weights, how);
  state->checkpoint.training.reset();  // these were trained on nothing
  state->architecture = architecture();
  return build(std::move(state));
}

Engine Engine::build(std::shared_ptr<State> state) {
  state->model = run_on_team([&] {
    return state->architecture.build(
        {state->checkpoint.config, {state->checkpoint.weights, state->options.compute}});
  });
  state->lazy = std::make_shared<State::Lazy>();
  return Engine(std::move(state));
}

const std::string& Engine::model_hash() const {
  return state_->lazy->hash.get([&] {
    std::string hash = fingerprint(state_->checkpoint);
    if (state_->random_seed) {
      hash +=
          fmt::format("-{}random-{}", state_->partly_random ? "partly-" : "", *state_->random_seed);
    }
    return hash;
  });
}

const Tokenizer& Engine::tokenizer() const {
  return state_->lazy->tokenizer.get([&] { return tokenizer_of(state_->checkpoint); });
}

const Tokenizer& Engine::target_tokenizer() const {
  return state_->lazy->target_tokenizer.get(
      [&] { return target_tokenizer_of(state_->checkpoint); });
}

const Tokenizer* Engine::find_tokenizer() const {
  return or_null([this]() -> const Tokenizer& { return tokenizer(); });
}

const Tokenizer* Engine::find_target_tokenizer() const {
  return or_null([this]() -> const Tokenizer& { return target_tokenizer(); });
}

GenerationConfig Engine::generation_config() const {
  const Checkpoint& checkpoint = state_->checkpoint;
  // A GGUF file stands for itself, whatever lies beside it.
  return checkpoint.gguf ? read_generation_config(checkpoint.config)
                         : open_generation_config(checkpoint.folder, checkpoint.config);
}

std::vector<std::string> Engine::labels() const {
  std::map<int64_t, std::string> sorted;
  for (const auto& [key, label] : state_->checkpoint.config.get_string_map("id2label")) {
    int64_t index = -1;
    std::from_chars(key.data(), key.data() + key.size(), index);
    if (!is_placeholder(label)) sorted[index] = label;
  }
  std::vector<std::string> labels;
  for (auto& [index, label] : sorted) {
    if (index != static_cast<int64_t>(labels.size())) return {};
    labels.push_back(std::move(label));
  }
  return labels;
}

bool Engine::multi_label() const {
  return state_->checkpoint.config.get_string("problem_type", "") == "multi_label_classification";
}

EncodedInput Engine::encode(std::string_view text, std::optional<std::string_view> pair) const {
  if (facts().takes_pixels() && !facts().takes_text()) {
    fail(ErrorKind::kInvalidArgument,
         "{} sees pictures and reads no text; give it a picture, or pixel_values", name());
  }
  EncodedInput input = encode_text(tokenizer(), text, pair);
  const std::optional<TextFacts>& texts = facts().text;
  if (!texts || !texts->takes_segments) input.inputs.token_type_ids.clear();
  if (texts) fill_up(input, *texts, tokenizer());
  return input;
}

std::vector<std::string> Engine::length_warnings(int64_t tokens) const {
  const int64_t trained = facts().text ? facts().text->trained_tokens : 0;
  if (facts().most_positions() > 0 || trained == 0 || tokens <= trained) return {};
  return {fmt::format(
      "the text has {} tokens but the model was trained on {} at most; its maps may mean little "
      "beyond them",
      tokens, trained)};
}

RunResult Engine::result_of(const EncodedInput& input, Recorder& recorder,
                            ModelOutputs outputs) const {
  RunResult result;
  result.warnings = input.warnings;
  for (std::string& warning : length_warnings(input.inputs.tokens())) {
    result.warnings.push_back(std::move(warning));
  }
  result.inputs = input.inputs;
  result.outputs = std::move(outputs);
  result.run = {.model = name(),
                .model_hash = model_hash(),
                .model_note = checkpoint().note,
                .axes = axes_of(input)};
  result.run.records = recorder.take();
  result.run.experts = recorder.take_experts();
  return result;
}

RunResult Engine::run(const EncodedInput& input, const RunOptions& options) const {
  Recorder recorder(options.record);
  Progress progress("running the model", facts().attentions());
  const Interventions changes(options.changes);
  Pass pass{.recorder = &recorder, .logits = options.logits, .progress = &progress};
  if (!options.changes.empty()) pass.changes = &changes;
  return result_of(input, recorder, run_on_team([&] {
                     return model().forward(changed_inputs(*this, input, options.changes), pass);
                   }));
}

void Engine::run_encoder(const EncodedInput& input, Recorder& recorder) const {
  run_on_team([&] { model().seq2seq()->encode(input.inputs, {.recorder = &recorder}); });
}

RunResult Engine::run_decoder(const EncodedInput& input, const EncodedSource& source,
                              Recorder& recorder, const RunOptions& options) const {
  const Interventions changes(options.changes);
  Pass pass{.recorder = &recorder, .logits = options.logits};
  if (!options.changes.empty()) pass.changes = &changes;
  ModelOutputs outputs = run_on_team([&] {
    return model().seq2seq()->decode(source, input.inputs.decoder_input_ids,
                                     input.inputs.decoder_attention_mask, pass);
  });
  outputs.encoder_last_hidden_state = source.states;
  return result_of(input, recorder, std::move(outputs));
}

std::vector<Axis> Engine::axes_of(const EncodedInput& input) const {
  if (facts().takes_pixels()) {
    std::vector<Axis> axes;
    if (!input.patches.positions.empty()) axes.push_back(input.patches);
    if (!input.patches.positions.empty() && facts().pools_by_attention()) {
      axes.push_back(pool_axis());
    }
    if (facts().finds_objects()) axes.push_back(query_axis(*facts().objects));
    if (!input.axis.positions.empty()) axes.push_back(input.axis);
    return axes;
  }
  if (!facts().has_decoder()) return {input.axis};
  std::vector<int64_t> ids = input.inputs.decoder_input_ids;
  if (input.next_id) ids.push_back(*input.next_id);
  Axis source = input.axis, target = input.target;
  source.name = "source";
  target.name = "target";
  return {source, target, steps_axis(target, find_target_tokenizer(), ids, 1)};
}

RunResult Engine::run(const ModelInputs& inputs, const RunOptions& options) const {
  return run(label(inputs), options);
}

void Engine::run_packed(std::span<const EncodedInput> texts, const RecorderOptions& options) const {
  if (facts().has_decoder() || facts().takes_pixels() || facts().takes_features()) {
    fail(ErrorKind::kUnsupported, "{} reads more than one text at a time; run inputs one by one",
         name());
  }
  ModelInputs all;
  std::vector<int64_t> lengths;
  for (const EncodedInput& text : texts) {
    const ModelInputs& inputs = text.inputs;
    if (std::ranges::count(inputs.attention_mask, 0) > 0) {
      fail(ErrorKind::kUnsupported, "a text with padding cannot be packed; leave the padding out");
    }
    all.input_ids.insert(all.input_ids.end(), inputs.input_ids.begin(), inputs.input_ids.end());
    // Without segments a text is all of segment 0.
    std::vector<int64_t> segments = inputs.token_type_ids;
    if (facts().text->takes_segments) segments.resize(inputs.input_ids.size());
    all.token_type_ids.insert(all.token_type_ids.end(), segments.begin(), segments.end());
    lengths.push_back(inputs.tokens());
  }
  if (lengths.empty()) return;
  Recorder recorder(options);
  // Nobody reads the outputs, so the feed-forward part of the last layer need not run.
  std::optional<SiteId> last;
  for (int layer = 0; layer < facts().main.layers; ++layer) {
    if (recorder.wants({SiteKind::kSelf, layer})) last = {SiteKind::kSelf, layer};
  }
  try {
    run_on_team([&] {
      model().forward(
          all,
          {.recorder = &recorder, .logits = LogitRows::kNone, .texts = lengths, .last_site = last});
    });
  } catch (const EndOfPass&) {
  }
}

EncodedInput Engine::label(const ModelInputs& inputs) const {
  EncodedInput input{.inputs = inputs};
  if (const Seq2SeqModel* model = this->model().seq2seq()) {
    input.inputs.decoder_input_ids = model->decoder_ids(inputs);
    input.target = ids_axis(find_target_tokenizer(), input.inputs.decoder_input_ids);
  }
  if (facts().finds_objects()) {
    input.patches = cell_axis(*facts().objects, inputs.pixel_values, inputs.pixel_mask);
  } else if (facts().takes_pixels()) {
    input.patches = patch_axis(*facts().picture, inputs.pixel_values);
  }
  if (facts().takes_features()) {
    input.axis = sound_axis(facts().sound->positions, facts().sound->seconds_per_position);
  } else if (!inputs.input_ids.empty()) {
    input.axis = ids_axis(find_tokenizer(), inputs.input_ids);
    if (std::ranges::all_of(input.axis.positions, &Position::special)) {
      input.warnings.push_back(
          fmt::format("input_ids hold no words but {} special tokens, {} first",
                      inputs.input_ids.size(), input.axis.positions.front().text));
    }
  }
  return input;
}

RunResult Engine::generate(const EncodedInput& input, GenerateOptions how,
                           const RunOptions& options) const {
  const int64_t prompt = input.inputs.tokens();
  if (std::ranges::count(input.inputs.attention_mask, 0) > 0 ||
      std::ranges::any_of(input.inputs.token_type_ids, [](int64_t type) { return type != 0; })) {
    fail(ErrorKind::kUnsupported,
         "the inputs hold padding or segments, but text is written without them; give input_ids "
         "alone");
  }
  check_room(facts(), prompt, how.most_tokens);
  if (how.stop_ids.empty()) how.stop_ids = generation_config().search.stop_ids;
  RunResult result;
  result.warnings = input.warnings;
  how.probabilities = &result.generated_probabilities;
  AttentionCache cache;
  result.generated =
      run_on_team([&] { return fovea::generate(model(), input.inputs.input_ids, how, cache); });

  std::vector<int64_t> ids = input.inputs.input_ids;
  ids.insert(ids.end(), result.generated.begin(), result.generated.end());
  Axis columns = input.axis;
  const Axis written =
      ids_axis(find_tokenizer(), std::span(ids).subspan(static_cast<size_t>(prompt)));
  columns.positions.insert(columns.positions.end(), written.positions.begin(),
                           written.positions.end() - 1);
  Recorder recorder(options.record);
  cache.record_into(recorder, "steps");
  result.inputs.input_ids.assign(ids.begin(), ids.end() - 1);
  result.run = {.model = name(), .model_hash = model_hash(), .model_note = checkpoint().note};
  result.run.axes = {
      columns, steps_axis(columns, find_tokenizer(), ids, prompt, result.generated_probabilities)};
  result.run.records = recorder.take();
  return result;
}

}  // namespace fovea
