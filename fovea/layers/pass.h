// One run of a model: what is asked of it, carried through all its layers.
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

// Which rows of the logits are computed: for a large vocabulary they cost as much as many layers. A
// number from 0 on is that row alone.
enum class LogitRows : int64_t { kNone = -3, kLast = -2, kAll = -1 };
inline LogitRows logit_row(int64_t row) {
  return static_cast<LogitRows>(row);
}

// Thrown by attend() after Pass::last_site.
struct EndOfPass {};

struct Pass {
  Recorder* recorder = nullptr;     // null: nothing is kept
  AttentionCache* cache = nullptr;  // null: the whole input at once; else one step of a generation
  LogitRows logits = LogitRows::kAll;
  // Lengths of texts that stand one after another and do not see each other; empty: one text.
  std::span<const int64_t> texts;
  const Interventions* changes = nullptr;  // null: the model as it is
  // The last attention that is wanted: the pass ends there, by EndOfPass, and what would come after
  // it is not computed; none: the pass goes on to the outputs.
  std::optional<SiteId> last_site = {};
  // Of a gradient run (docs/adr/0013): where what is computed is recorded, and records with the
  // gradient at their outputs are made while it is computed; null: a plain run.
  Tape* tape = nullptr;
  NumericInputs* inputs = nullptr;  // null: the model's own
  KnownResults* known = nullptr;    // null: everything is computed
  Progress* progress = nullptr;     // moved on by one at each attention

  // Whether nothing but its map is wanted of the attention at `site`, so that it needs no values.
  bool ends_with_map(SiteId site) const {
    return last_site == site &&
           (recorder == nullptr || !(recorder->options().values || recorder->options().outputs));
  }
};

}  // namespace fovea
