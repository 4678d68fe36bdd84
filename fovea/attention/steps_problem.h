// Reads a user's own vectors from a JSON file, with a clear error for everything that can be wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention/addressing.h"
#include "fovea/attention/steps.h"
#include "fovea/attention/vector_set.h"

namespace fovea {

// Settings that go before those of the file. None: as the file says, or the default.
struct StepsSettings {
  std::optional<std::string> similarity;  // scaled, dot, cosine or additive
  std::optional<double> temperature;
};

// The problem: attention of `attention.inputs`, or `queries` that read a `memory`.
struct StepsProblem {
  std::string file;  // as the user wrote it
  std::string title;
  AttentionProblem attention;     // for a memory only similarity and temperature count
  std::optional<PixelGrid> grid;  // the inputs are the pixels of a picture
  std::optional<KeyValueMemory> memory;
  Matrix queries;
  bool causal = false;                        // the mask was given by that word
  std::vector<std::string> labels;            // names of the rows: inputs or queries
  std::vector<std::string> source_labels;     // names of the columns: sources, or a memory's keys
  std::vector<std::string> left_to_identity;  // which of Wq, Wk, Wv, Wo the file leaves out
};

// The names that a setting may have.
const std::vector<std::string>& similarity_names();

// Throws Error{kBadFile}, naming `file` and the member, unless everything is there, finite, of a
// size that fits, and small enough to keep every intermediate.
StepsProblem parse_steps(std::string_view text, std::string_view file,
                         const StepsSettings& settings = {});

// Everything that was computed for it.
struct StepsResult {
  AttentionSteps attention;         // for attention
  double forms_differ_by = 0;       // largest difference between the two forms of calculation
  std::vector<MemoryReading> hard;  // for a memory: one per query
  std::vector<MemoryReading> soft;
};

StepsResult compute_steps(const StepsProblem& problem);

}  // namespace fovea
