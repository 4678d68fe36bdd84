// A model together with one input, for methods that must run it again: ablation, value zeroing,
// deletion curves, gradients, randomised weights. Declared here and implemented by the engine, so
// that methods never see models.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fovea/base/cancel.h"
#include "fovea/capture/recorder.h"
#include "fovea/capture/run.h"

namespace fovea {

// What is asked of the model's output, as one number.
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

// Changes to a run, all made at once; each holds in every site it names (none: all sites).
struct HidePosition {  // nobody may attend to it: -infinity before the softmax
  std::string axis = "tokens";
  int64_t position = 0;
};
struct HideEdge {  // this row may not attend to this column
  std::optional<SiteId> site;
  int64_t row = 0;
  int64_t col = 0;
};
struct ZeroHead {  // the head's output becomes 0
  SiteId site;
  int64_t head = 0;
};
struct UniformHead {  // the head attends evenly to all it may see
  SiteId site;
  int64_t head = 0;
};
struct ZeroValue {  // the position's value vector becomes 0 (value zeroing)
  std::optional<SiteId> site;
  int64_t position = 0;
};
struct ReplaceInput {  // the position holds the model's mask or blank input instead
  std::string axis = "tokens";
  int64_t position = 0;
};
using Intervention =
    std::variant<HidePosition, HideEdge, ZeroHead, UniformHead, ZeroValue, ReplaceInput>;

// What a run of the model gave.
struct SubjectOutput {
  Tensor logits;     // [positions or queries, classes] or [classes]; empty without such a head
  Tensor embedding;  // [width]; empty unless the model embeds
  Tensor boxes;      // [queries, 4]; empty unless the model detects
};

// Member functions run the model; each may be called many times and from one thread at a time.
class Subject {
 public:
  virtual ~Subject() = default;

  // Runs with the interventions; records into `recorder` unless it is null.
  virtual SubjectOutput run(const std::vector<Intervention>& interventions, Recorder* recorder,
                            const CancelToken& cancel) = 0;

  // The target's value, and its gradient at every site's head outputs: the records of the returned
  // run carry output_gradient. `input_gradient` is that of the input embeddings, [positions,
  // width].
  struct Gradient {
    double value = 0;
    Run run;
    Tensor input_gradient;
  };
  virtual Gradient gradient(const Target& target, const CancelToken& cancel) = 0;

  // The same input under a model whose topmost `layers` layers (counted from the output, the head
  // first) have random weights: the sanity check of Adebayo et al. 2018, arXiv:1810.03292.
  virtual std::unique_ptr<Subject> randomized(int layers, uint64_t seed) const = 0;
};

}  // namespace fovea
