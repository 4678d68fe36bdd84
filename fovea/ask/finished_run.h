// The run that a question is asked of, and what it came from.
#pragma once

#include <memory>
#include <optional>

#include "fovea/ask/input.h"
#include "fovea/ask/question.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/picture_input.h"
#include "fovea/engine/translator.h"

namespace fovea {

// What a run must hold beside Q, K, V and the log-sum-exps of each attention.
struct RunNeeds {
  bool blocks = false;       // what RecorderOptions::block records
  bool outputs = false;      // what RecorderOptions::outputs records
  bool all_logits = false;   // of every position, or object query
  bool last_logits = false;  // of the last position; all_logits holds them too
  bool positions = false;    // what RecorderOptions::positions records

  bool covers(const RunNeeds& other) const {
    return blocks >= other.blocks && outputs >= other.outputs && all_logits >= other.all_logits &&
           positions >= other.positions && (all_logits || last_logits >= other.last_logits);
  }
  LogitRows logits() const {
    return all_logits ? LogitRows::kAll : last_logits ? LogitRows::kLast : LogitRows::kNone;
  }
  RunNeeds with(const RunNeeds& other) const {
    return {.blocks = blocks || other.blocks,
            .outputs = outputs || other.outputs,
            .all_logits = all_logits || other.all_logits,
            .last_logits = last_logits || other.last_logits,
            .positions = positions || other.positions};
  }
};

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
