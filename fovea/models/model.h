// A model: inputs in, outputs out, every attention on the way recorded. One file of this folder per
// architecture; what they are built from is in fovea/layers.
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

// More than a picture of 8,192 x 8,192 pixels has in patches of 16 x 16 is refused.
inline constexpr int64_t kMostPatches = int64_t{1} << 18;

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
  Tensor pixel_values;    // f32 [channels, height, width], a picture as the preprocessor leaves it
  Tensor pixel_mask;      // i64 [height, width], 0 where that is padding; empty: all 1

  int64_t tokens() const { return static_cast<int64_t>(input_ids.size()); }
};

// What the model gave; empty where it has no such output.
struct ModelOutputs {
  Value last_hidden_state;  // [tokens, width], after the final norm where there is one
  // [tokens or 1, vocabulary], [classes], [tokens, classes] or [queries, classes + 1]
  Value logits;
  Value encoder_last_hidden_state;  // [source positions, width]
  Value pooler_output;              // [width], of models of pictures
  // Of models of pictures: what the last block gave, before the final norm makes all vectors about
  // as long. CLIP's norm is for [CLS] alone, so that there it is last_hidden_state.
  Value states_before_norm;
  // Of a picture and a text tower, whose states stand under last_hidden_state and below; in models
  // with both towers the embeddings have the length 1. logits are then [1], the similarity.
  Value text_last_hidden_state;  // [tokens, width of the text tower]
  Value image_embeds;
  Value text_embeds;
  // Of models that find objects. Boxes are fractions of the picture without its padding.
  Value pred_boxes;  // [queries, 4]: centre x and y, width, height
  Value pred_masks;  // [queries, height, width], the logit that a pixel belongs to the object
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
  bool rotary = false;  // q and k are turned by their positions before they meet
};

// Texts that a model reads or writes.
struct TextFacts {
  int64_t vocabulary = 0;
  int64_t most_tokens = 0;      // a learned table of positions ends there; 0: no limit
  int64_t trained_tokens = 0;   // how long texts were in training, as far as config.json says
  bool takes_segments = false;  // token_type_ids
  // Texts are filled up to most_tokens with this id, for so it was trained; -1: they are not.
  int64_t padding_id = -1;
};

// Sound (input_features), in the place of a text.
struct SoundFacts {
  int64_t positions = 0;  // always as many
  double seconds_per_position = 0;
};

// Pictures (pixel_values) and their patches, in whose place a model that finds objects has cells.
struct PictureFacts {
  int64_t channels = 0;
  int64_t patch_height = 0, patch_width = 0;
  int64_t image_height = 0, image_width = 0;  // what the model was trained on
  bool any_size = false;                      // positions are made for other sizes too
  std::vector<std::string> front_tokens;      // before the patches: "[CLS]", "[DIST]", "[REG 1]"
  bool pools_by_attention = false;            // pool.0, a head that attends to the patches
};

// Objects in pictures: the encoder reads the cells of a convolutional trunk's feature map, the
// decoder object queries and no target.
struct ObjectFacts {
  int64_t queries = 0;
  int64_t stride = 0;          // pixels from one cell to the next
  bool has_mask_head = false;  // panoptic.0, and pred_masks
};

// A picture and a text: their logit is scale * cosine + bias, and means a share among several texts
// (softmax) or whether this one fits (sigmoid).
struct SimilarityFacts {
  double scale = 0;
  double bias = 0;
  bool sigmoid = false;
};

// What front ends need to know of a model.
struct ModelFacts {
  // The only stack; beside a decoder the encoder, beside a text tower the picture tower.
  StackFacts main;
  std::optional<StackFacts> decoder;
  std::optional<StackFacts> text_tower;

  std::optional<TextFacts> text;    // that the text tower reads, or else the main stack
  std::optional<TextFacts> target;  // that the decoder reads and writes
  std::optional<SoundFacts> sound;
  std::optional<PictureFacts> picture;
  std::optional<ObjectFacts> objects;
  std::optional<SimilarityFacts> similarity;
  HeadKind head = HeadKind::kNone;

  bool takes_text() const { return text.has_value(); }
  bool takes_features() const { return sound.has_value(); }
  bool takes_pixels() const { return picture.has_value(); }
  // A decoder that reads a target.
  bool has_decoder() const { return decoder && !objects; }
  bool has_text_tower() const { return text_tower.has_value(); }
  bool finds_objects() const { return objects.has_value(); }
  bool has_mask_head() const { return objects && objects->has_mask_head; }
  bool pools_by_attention() const { return picture && picture->pools_by_attention; }

  // The stack that reads texts, if one does.
  const StackFacts& text_stack() const { return text_tower ? *text_tower : main; }
  // How long a text or sound may be at most; 0: no limit.
  int64_t most_positions() const { return sound ? sound->positions : text ? text->most_tokens : 0; }
  // How many attentions a run goes through: of each layer, cross-attention, pooling
  // and masks.
  int64_t attentions() const {
    return main.layers + (decoder ? 2 * decoder->layers : 0) +
           (text_tower ? text_tower->layers : 0) + (pools_by_attention() ? 1 : 0) +
           (has_mask_head() ? 1 : 0);
  }
};

struct AttentionSizes;
// What a stack of `layers` with such heads is like; the caller adds the rest.
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

// The one that has the configuration's model_type. Throws Error{kUnsupported} that lists the model
// types there are.
Architecture architecture_named(const Config& config);

// The tensors that nobody has read although the architecture should know them, by the file's names.
std::vector<std::string> unknown_weights(const Architecture& architecture, const Weights& weights);

// The index of the last token that is not padding: where decoders classify a text. Without a
// pad_token_id the last token.
int64_t last_real_token(const Config& config, const ModelInputs& inputs);

// How many labels a classifier has: the entries of id2label where they are named, otherwise
// num_labels, otherwise the entries all the same, otherwise 2.
int64_t label_count(const Config& config);

}  // namespace fovea
