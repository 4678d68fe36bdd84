// The run that a question is asked of, and what it came from.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "fovea/ask/input.h"
#include "fovea/ask/question.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/picture_input.h"
#include "fovea/engine/translator.h"

namespace fovea {

// Of which layers Q, K and the log-sum-exps are kept: methods that take gradients of the model need
// no more than the axes that the first layers of each stack tell.
enum class KeptRecords { kFirstLayers, kAll };

// What a run must hold, beside those records and what else the session keeps of them.
struct RunNeeds {
  bool blocks = false;       // what RecorderOptions::block records, and values
  bool outputs = false;      // what RecorderOptions::outputs records
  bool all_logits = false;   // of every position, or object query
  bool last_logits = false;  // of the last position; all_logits holds them too
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
// How such a run is made; `record` says what is kept in any case.
RunOptions run_options(const RunNeeds& needs, RecorderOptions record = {.values = false});

// A model and its input, as the model reads it.
struct OpenedInput {
  Engine engine;
  Input input;
  EncodedInput encoded;                  // of a picture: its patches
  std::optional<PictureInput> picture;   // none: no picture was given
  std::optional<Translator> translator;  // of a text for a model that translates

  RunSort sort() const;  // known before it runs
};

struct FinishedRun {
  std::shared_ptr<const OpenedInput> opened;  // null: a captured run
  RunNeeds has;
  Translation translation;  // where it is none, its result alone

  const RunResult& result() const { return translation.result; }
  const Run& run() const { return translation.result.run; }
  const Engine* engine() const { return opened ? &opened->engine : nullptr; }
  bool is_translation() const { return opened && opened->translator; }
  // A picture's, where one lies under the grid of its patches, given or captured. Of objects only
  // where the model is there too: a captured run does not say what was found.
  RunSort sort() const;
};

}  // namespace fovea
