// The run that a question asks about, and where it came from.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "fovea/ask/input.h"
#include "fovea/ask/question.h"
#include "fovea/capture/array_run.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/picture_input.h"
#include "fovea/engine/translator.h"

namespace fovea {

// Which layers' Q, K and log-sum-exps to keep. Methods that take gradients of the model only need
// the axes, and the first layers of each stack tell those.
enum class KeptRecords { kFirstLayers, kAll };

// What a run must hold beside those records and whatever else the session keeps.
struct RunNeeds {
  bool blocks = false;       // what RecorderOptions::block records, and values
  bool outputs = false;      // what RecorderOptions::outputs records
  bool all_logits = false;   // for every position or object query
  bool last_logits = false;  // for the last position; all_logits includes them
  bool positions = false;    // what RecorderOptions::positions records
  KeptRecords records = KeptRecords::kAll;

  bool covers(const RunNeeds& other) const {
    return blocks >= other.blocks && outputs >= other.outputs && all_logits >= other.all_logits &&
           (all_logits || last_logits >= other.last_logits) && positions >= other.positions &&
           records >= other.records;
  }
  LogitRows logits() const {
    return all_logits ? LogitRows::kAll : last_logits ? LogitRows::kLast : LogitRows::kNone;
  }
  RunNeeds with(const RunNeeds& other) const {
    return {.blocks = blocks || other.blocks,
            .outputs = outputs || other.outputs,
            .all_logits = all_logits || other.all_logits,
            .last_logits = last_logits || other.last_logits,
            .positions = positions || other.positions,
            .records = std::max(records, other.records)};
  }
};
// Options for such a run; `record` says what is kept in any case.
RunOptions run_options(const RunNeeds& needs, RecorderOptions record = {.values = false});

// A model and its input, as the model reads it.
struct OpenedInput {
  Engine engine;
  Input input;
  EncodedInput encoded;                  // for a picture: its patches
  std::optional<PictureInput> picture;   // none: no picture was given
  std::optional<Translator> translator;  // for a text, if the model translates

  RunSort sort() const;  // known before it runs
};

struct FinishedRun {
  std::shared_ptr<const OpenedInput> opened;  // null: a captured run, or arrays
  std::optional<ArrayFacts> arrays;           // of arrays, what they were
  RunNeeds has;
  Translation translation;  // if nothing was translated, only its result

  const RunResult& result() const { return translation.result; }
  const Run& run() const { return translation.result.run; }
  const Engine* engine() const { return opened ? &opened->engine : nullptr; }
  bool is_translation() const { return opened && opened->translator; }
  // A run counts as a picture's if a picture lies under its patches, given or captured. It counts
  // as one of objects only with the model: a captured run does not say what was found.
  RunSort sort() const;
};

}  // namespace fovea
