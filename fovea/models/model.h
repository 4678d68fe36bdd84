// A model: inputs go in, outputs come out, and every attention on the way is recorded. Each
// architecture is a file of this folder, built from the parts in fovea/layers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/layers/layer_source.h"
#include "fovea/layers/pass.h"
#include "fovea/ops/tape.h"

namespace fovea {

// The most patches of a picture: as many as 8,192 x 8,192 pixels give in patches of 16 x 16.
inline constexpr int64_t kMostPatches = int64_t{1} << 18;

// Inputs have the names that transformers gives them, but no batch axis. What a model does not take
// must be empty.
struct ModelInputs {
  std::vector<int64_t> input_ids;
  std::vector<int64_t> token_type_ids;  // empty: all 0
  std::vector<int64_t> attention_mask;  // 0 for padding; empty: all 1
  // What a decoder beside an encoder reads: the start token and the target so far.
  std::vector<int64_t> decoder_input_ids;
  std::vector<int64_t> decoder_attention_mask;
  Tensor input_features;  // f32 [mel bands, frames], sound
  Tensor pixel_values;    // f32 [channels, height, width], a picture as the preprocessor leaves it
  Tensor pixel_mask;      // i64 [height, width], 0 for padding; empty: all 1

  int64_t tokens() const { return static_cast<int64_t>(input_ids.size()); }
};

// What the model gave. An output that it does not have is empty.
struct ModelOutputs {
  Value last_hidden_state;  // [tokens, width], after the final norm where there is one
  // [tokens or 1, vocabulary], [classes], [tokens, classes] or [queries, classes + 1]
  Value logits;
  Value encoder_last_hidden_state;  // [source positions, width]
  Value pooler_output;              // [width], from picture models
  // Picture models: the output of the last block, before the final norm. (The norm makes all
  // vectors about equally long.) CLIP normalises [CLS] alone, so there it is last_hidden_state.
  Value states_before_norm;
  // Models with a picture and a text tower: the picture tower's states are in last_hidden_state,
  // the text tower's here. With both towers, embeddings have length 1 and logits is [1], the
  // similarity.
  Value text_last_hidden_state;  // [tokens, width of the text tower]
  Value image_embeds;
  Value text_embeds;
  // Models that find objects. Boxes are fractions of the picture without its padding.
  Value pred_boxes;  // [queries, 4]: centre x and y, width, height
  Value pred_masks;  // [queries, height, width], logits: does the pixel belong to the object?
};

enum class HeadKind {
  kNone,           // hidden states only
  kMaskedLm,       // words behind masks
  kCausalLm,       // the next word
  kSequenceClass,  // classes of the whole text
  kTokenClass,     // classes of each token
  kTargetWords,    // the next word of a target, from a source
  kPictureClass,   // classes of the picture
  kSimilarity,     // how well a picture and a text go together
  kObjects,        // classes and boxes of objects in the picture
};
std::string_view name_of(HeadKind kind);

// One stack of layers that attend.
struct StackFacts {
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t width = 0;
  bool causal = false;
  bool rotary = false;  // positions rotate q and k before they are compared
};

// Texts that a model reads or writes.
struct TextFacts {
  int64_t vocabulary = 0;
  int64_t most_tokens = 0;      // entries of the learned table of positions; 0: no limit
  int64_t trained_tokens = 0;   // longest text in training, as config.json says; 0: not said
  bool takes_segments = false;  // token_type_ids
  // Texts are padded to most_tokens with this id, because the model was trained so; -1: they are
  // not.
  int64_t padding_id = -1;
};

// Sound (input_features), which the model reads instead of a text.
struct SoundFacts {
  int64_t positions = 0;  // the same for every sound
  double seconds_per_position = 0;
};

// Pictures (pixel_values), cut into patches. In a model that finds objects, cells of a feature map
// take the place of patches.
struct PictureFacts {
  int64_t channels = 0;
  int64_t patch_height = 0, patch_width = 0;
  int64_t image_height = 0, image_width = 0;  // as in training
  bool any_size = false;                      // learned positions are resized for other sizes
  std::vector<std::string> front_tokens;      // in front of patches: "[CLS]", "[DIST]", "[REG 1]"
  bool pools_by_attention = false;            // has the site pool.0, which attends to patches
};

// Objects in pictures. The encoder reads the cells of a convolutional network's feature map. The
// decoder reads object queries, not a target.
struct ObjectFacts {
  int64_t queries = 0;
  int64_t stride = 0;          // pixels from one cell to the next
  bool has_mask_head = false;  // has the site panoptic.0, and gives pred_masks
};

// How a picture and a text are compared: logit = scale * cosine + bias. A softmax over several
// texts makes it a share; a sigmoid makes it the probability that this one text fits.
struct SimilarityFacts {
  double scale = 0;
  double bias = 0;
  bool sigmoid = false;
};

// What front ends need to know about a model.
struct ModelFacts {
  // The only stack. With a decoder, it is the encoder; with a text tower, the picture tower.
  StackFacts main;
  std::optional<StackFacts> decoder;
  std::optional<StackFacts> text_tower;

  std::optional<TextFacts> text;    // read by the text tower, else by the main stack
  std::optional<TextFacts> target;  // read and written by the decoder
  std::optional<SoundFacts> sound;
  std::optional<PictureFacts> picture;
  std::optional<ObjectFacts> objects;
  std::optional<SimilarityFacts> similarity;
  HeadKind head = HeadKind::kNone;

  bool takes_text() const { return text.has_value(); }
  bool takes_features() const { return sound.has_value(); }
  bool takes_pixels() const { return picture.has_value(); }
  // Whether a decoder reads a target. DETR's reads object queries.
  bool has_decoder() const { return decoder && !objects; }
  bool has_text_tower() const { return text_tower.has_value(); }
  bool finds_objects() const { return objects.has_value(); }
  bool has_mask_head() const { return objects && objects->has_mask_head; }
  bool pools_by_attention() const { return picture && picture->pools_by_attention; }

  // The stack that reads texts, if any does.
  const StackFacts& text_stack() const { return text_tower ? *text_tower : main; }
  // The longest text or sound, in positions; 0: no limit.
  int64_t most_positions() const { return sound ? sound->positions : text ? text->most_tokens : 0; }
  // How many attentions one run computes, with cross-attention, pooling and masks.
  int64_t attentions() const {
    return main.layers + (decoder ? 2 * decoder->layers : 0) +
           (text_tower ? text_tower->layers : 0) + (pools_by_attention() ? 1 : 0) +
           (has_mask_head() ? 1 : 0);
  }
};

struct AttentionSizes;
// The facts of a stack of `layers` with such heads; the caller adds the rest.
StackFacts stack_facts(const AttentionSizes& sizes, int64_t layers);

class Seq2SeqModel;

// forward() may be called from any thread.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  virtual const ModelFacts& facts() const = 0;
  // Runs the model. Throws Error{kInvalidArgument} for inputs that it cannot take: too long, ids
  // beyond the vocabulary.
  virtual ModelOutputs forward(const ModelInputs& inputs, const Pass& pass) const = 0;
  // This model if it has an encoder and a decoder, else null.
  virtual const Seq2SeqModel* seq2seq() const { return nullptr; }
};

struct ModelSource {
  Config config;
  LayerSource weights;

  // Whether the name of an architecture in config.json ends in `suffix`, such as "ForMaskedLM". If
  // config.json names none: whether the weights hold `probe`.
  bool is(std::string_view suffix, std::string_view probe) const;
};

struct Architecture {
  std::string name;                      // "bert"
  std::string covers;                    // in words: "BERT, MiniLM, sentence-transformers"
  std::vector<std::string> model_types;  // what config.json calls them
  // Tensors that a file may hold and the model does not need, such as buffers and heads for
  // training. Each entry is a part of their names, between dots.
  std::vector<std::string> not_needed;
  std::unique_ptr<Model> (*build)(const ModelSource& source);
};

template <typename AnyModel>
std::unique_ptr<Model> build_model(const ModelSource& source) {
  return std::make_unique<AnyModel>(source);
}

// Made from this folder by CMake, in the order of the names.
std::vector<Architecture> all_architectures();

// The architecture for the configuration's model_type. Throws Error{kUnsupported} that lists the
// known types.
Architecture architecture_named(const Config& config);

// Tensors of the file that the model did not read and that are not in not_needed.
std::vector<std::string> unknown_weights(const Architecture& architecture, const Weights& weights);

// The index of the last token that is not padding: decoders classify a text there. Without a
// pad_token_id it is the last token.
int64_t last_real_token(const Config& config, const ModelInputs& inputs);

// How many labels a classifier has: the entries of id2label if they have names, else num_labels,
// else the entries of id2label anyway, else 2.
int64_t label_count(const Config& config);

}  // namespace fovea
