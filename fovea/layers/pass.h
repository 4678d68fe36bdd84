// One run of a model: what is asked of it. It is handed through all layers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fovea/base/progress.h"
#include "fovea/capture/recorder.h"

namespace fovea {

class AttentionCache;
class Interventions;
class Tape;
struct KnownResults;
struct NumericInputs;

// Which rows of the logits to compute: with a large vocabulary they cost as much as many layers. A
// number from 0 on means that row alone.
enum class LogitRows : int64_t { kNone = -3, kLast = -2, kAll = -1 };
inline LogitRows logit_row(int64_t row) {
  return static_cast<LogitRows>(row);
}

// attend() throws this after Pass::last_site, to end the pass there.
struct EndOfPass {};

struct Pass {
  Recorder* recorder = nullptr;     // null: nothing is kept
  AttentionCache* cache = nullptr;  // null: the whole input at once; else one step of generation
  LogitRows logits = LogitRows::kAll;
  // The lengths of several texts that stand one after another and do not see each other. Empty:
  // there is one text.
  std::span<const int64_t> texts;
  const Interventions* changes = nullptr;  // null: the model as it is
  // The last attention that is wanted. The pass ends there (EndOfPass), and nothing after it is
  // computed. None: the pass goes on to the outputs.
  std::optional<SiteId> last_site = {};
  // The tape of a gradient run (docs/adr/0013): it follows what the model computes. Going back
  // along it gives the gradients, and it makes the records, with the gradient at their outputs.
  // Null: a plain run.
  Tape* tape = nullptr;
  NumericInputs* inputs = nullptr;  // null: the model's own
  KnownResults* known = nullptr;    // null: everything is computed
  Progress* progress = nullptr;     // advances by one at each attention

  // Whether only the map of the attention at `site` is wanted. Its values then need not be
  // computed.
  bool ends_with_map(SiteId site) const {
    return last_site == site &&
           (recorder == nullptr || !(recorder->options().values || recorder->options().outputs));
  }
};

}  // namespace fovea
