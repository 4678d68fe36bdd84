// A model: inputs in, outputs out, every attention on the way recorded. One file of this folder per
// architecture; what they are built from is in fovea/layers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/layers/layer_source.h"
#include "fovea/layers/pass.h"
#include "fovea/ops/tape.h"

namespace fovea {

// Under the names that transformers gives them, without a batch axis. What a model does not take
// must be empty.
struct ModelInputs {
  std::vector<int64_t> input_ids;
  std::vector<int64_t> token_type_ids;  // empty: all 0
  std::vector<int64_t> attention_mask;  // 0 for padding; empty: all 1
  // What a decoder beside an encoder reads: the start token and the target so far.
  std::vector<int64_t> decoder_input_ids;
  std::vector<int64_t> decoder_attention_mask;
  Tensor input_features;  // f32 [mel bands, frames], sound

  int64_t tokens() const { return static_cast<int64_t>(input_ids.size()); }
};

// What the model gave; empty where it has no such output.
struct ModelOutputs {
  Value last_hidden_state;          // [tokens, width], after the final norm where there is one
  Value logits;                     // [tokens or 1, vocabulary], [classes] or [tokens, classes]
  Value encoder_last_hidden_state;  // [source positions, width]
};

enum class HeadKind {
  kNone,           // hidden states only
  kMaskedLm,       // words behind masks
  kCausalLm,       // the next word
  kSequenceClass,  // classes of the whole text
  kTokenClass,     // classes of each token
  kTargetWords,    // the next word of a target, from a source
};
std::string_view name_of(HeadKind kind);

// What front ends need to know of a model. Of two stacks, what has no other name is the encoder's.
struct ModelFacts {
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t width = 0;
  int64_t vocabulary = 0;
  int64_t most_tokens = 0;     // a learned table of positions ends there; 0: no limit
  int64_t trained_tokens = 0;  // how long texts were in training, as far as config.json says
  bool causal = false;
  bool rotary = false;              // q and k are turned by their positions before they meet
  bool takes_segments = false;      // token_type_ids
  bool takes_features = false;      // input_features in the place of input_ids
  double seconds_per_position = 0;  // of sound
  HeadKind head = HeadKind::kNone;
  // Of the decoder beside an encoder; 0: there is none.
  int64_t decoder_layers = 0;
  int64_t decoder_heads = 0;
  int64_t target_vocabulary = 0;
  int64_t most_target_tokens = 0;  // as most_tokens

  bool has_decoder() const { return decoder_layers > 0; }
  // How many attentions a run goes through: of each layer, and cross-attention.
  int64_t attentions() const { return layers + 2 * decoder_layers; }
};

class Seq2SeqModel;

// forward() may be called from any thread.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual const ModelFacts& facts() const = 0;
  // Throws Error{kInvalidArgument} for inputs that the model cannot take: too long, ids beyond the
  // vocabulary.
  virtual ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const = 0;
  // This model, if it has an encoder and a decoder; otherwise null.
  virtual const Seq2SeqModel* seq2seq() const { return nullptr; }
};

struct ModelSource {
  Config config;
  LayerSource weights;

  // Whether config.json names an architecture that ends so: "ForMaskedLM". Without a list of
  // architectures, whether the weights hold `probe`.
  bool is(std::string_view suffix, std::string_view probe) const;
};

struct Architecture {
  std::string name;                      // "bert"
  std::string covers;                    // in words: "BERT, MiniLM, sentence-transformers"
  std::vector<std::string> model_types;  // what config.json calls them
  // Parts of names, between dots, of tensors that a file may hold and the model does not need:
  // buffers, heads for training.
  std::vector<std::string> not_needed;
  std::unique_ptr<Model> (*build)(const ModelSource& source);
};

template <typename AnyModel>
std::unique_ptr<Model> build_model(const ModelSource& source) {
  return std::make_unique<AnyModel>(source);
}

// Made from this folder by CMake, in the order of the names.
std::vector<Architecture> all_architectures();

// Throws Error{kUnsupported} that lists the model types there are.
Architecture find_architecture(const Config& config);

// The tensors that nobody has read although the architecture should know them, by the file's names.
std::vector<std::string> unknown_weights(const Architecture& architecture, const Weights& weights);

// The index of the last token that is not padding: where decoders classify a text. Without a
// pad_token_id the last token.
int64_t last_real_token(const Config& config, const ModelInputs& inputs);

// How many labels a classifier has: the entries of id2label where they are named, otherwise
// num_labels, otherwise the entries all the same, otherwise 2.
int64_t label_count(const Config& config);

}  // namespace fovea
