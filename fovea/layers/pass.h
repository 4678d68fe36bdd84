// One run of a model: what is asked of it, carried through all its layers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fovea/base/cancel.h"
#include "fovea/base/progress.h"
#include "fovea/capture/recorder.h"

namespace fovea {

class AttentionCache;
class Interventions;

// Which rows of the logits are computed: for a large vocabulary they cost as much as many layers.
enum class LogitRows { kNone, kLast, kAll };

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
  Progress* progress = nullptr;  // moved on by one at each attention
  CancelToken cancel;
};

}  // namespace fovea
