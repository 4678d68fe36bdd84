// A model together with one input, for methods that must run it again: ablation, value zeroing. The
// engine implements it, so methods never see models.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fovea/capture/recorder.h"
#include "fovea/capture/run.h"

namespace fovea {

// What is asked about the model's output, as one number.
struct ClassTarget {  // logit of a class
  int64_t index = 0;
};
struct TokenTarget {  // logit of `token` at an output position
  int64_t position = 0;
  int64_t token = 0;
};
struct BoxTarget {  // class logit of an object query
  int64_t query = 0;
  int64_t index = 0;
};
struct SimilarityTarget {  // cosine with this embedding
  std::vector<float> against;
};
using Target = std::variant<ClassTarget, TokenTarget, BoxTarget, SimilarityTarget>;

// Changes to a run. All are made at once. Each holds in every site that it names; without a site,
// in all.
struct HidePosition {  // nobody may attend to it: -infinity before the softmax
  std::string axis = "tokens";
  int64_t position = 0;
};
struct HideEdge {  // this row may not attend to this column
  std::optional<SiteId> site;
  int64_t row = 0;
  int64_t col = 0;
  std::optional<int64_t> head = {};  // none: all heads
};
struct SilenceHead {  // the head's output becomes 0
  SiteId site;
  int64_t head = 0;
};
struct ScaleHead {  // the head's output is multiplied by `factor`
  SiteId site;
  int64_t head = 0;
  float factor = 1;
};
struct EvenHead {  // the head attends evenly to all it may see
  SiteId site;
  int64_t head = 0;
};
struct ZeroValue {  // the position's value vector becomes 0 (value zeroing)
  std::optional<SiteId> site;
  int64_t position = 0;
};
struct BlankPosition {  // the position holds the model's mask or blank input instead
  std::string axis = "tokens";
  int64_t position = 0;
};
using Intervention = std::variant<HidePosition, HideEdge, SilenceHead, ScaleHead, EvenHead,
                                  ZeroValue, BlankPosition>;

// What a run of the model gave.
struct SubjectOutput {
  Tensor logits;     // [positions or queries, classes] or [classes]; empty without such a head
  Tensor embedding;  // [width]; empty unless the model embeds
  Tensor boxes;      // [queries, 4]; empty unless the model detects
  // The states of each stack, by the kind of its self-attention: [positions, width] after its last
  // layer, and after the final norm if the model has one.
  std::map<SiteKind, Tensor> states;
  std::vector<std::shared_ptr<const AttentionRecord>> records;  // only those asked for
};

// What the gradient of a target is taken with respect to.
struct GradientRequest {
  Target target;                          // a logit or a cosine, never a probability
  std::optional<Target> against;          // take the difference to this one
  bool inputs = true;                     // gradients of the numbers that the model reads
  std::optional<RecorderOptions> record;  // gradients of these sites' head outputs; none: no site
  // Numbers to start from instead of the input's own, by name (InputGradient). Integrated gradients
  // runs through a series of such points.
  std::map<std::string, Tensor> at;
  // Whether every position that is not special holds the model's mask or blank input
  // (BlankPosition).
  bool blank = false;
};

// The gradient of one of the model's numeric inputs, named as transformers does: "inputs_embeds"
// and "decoder_inputs_embeds" [tokens, width] are the embeddings of words before positions are
// added, "pixel_values" is [channels, height, width], "input_features" [bands, frames].
struct InputGradient {
  std::string name;
  std::string axis;  // the run's axis whose positions it feeds
  Tensor values;     // what the model read
  Tensor gradient;   // has the same shape
  // Pixels and sound: the grid of the axis, and how many pixels or frames each cell covers.
  int64_t grid_rows = 0, grid_cols = 0;
  int64_t cell_height = 0, cell_width = 0;
};

struct SubjectGradient {
  double value = 0;  // the target's value, or the difference
  std::vector<InputGradient> inputs;
  // Records with the gradient at the heads' outputs. A site that the target does not depend on has
  // no record.
  std::vector<std::shared_ptr<const AttentionRecord>> records;
};

// Each call runs the model. Call from one thread at a time.
class Subject {
 public:
  virtual ~Subject() = default;

  virtual SubjectOutput run(const std::vector<Intervention>& changes,
                            const RecorderOptions& record) = 0;
  // Runs the model forward, then backward to what is asked for. RecorderOptions::give_to gets the
  // records from the last layer to the first. Throws Error{kUnsupported} if the subject has no
  // gradients.
  virtual SubjectGradient gradient(const GradientRequest& request);
  // Whether several classes may hold at once. Their probabilities are sigmoids, not a softmax.
  virtual bool multi_label() const = 0;
};

}  // namespace fovea
