// Statistics of heads over a corpus: short texts side by side, nothing kept but sums, and a state
// from which an interrupted count goes on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fovea/cli/corpus.h"
#include "fovea/cli/stats/state.h"
#include "fovea/engine/engine.h"

namespace fovea {

struct StatsOptions {
  SiteKind kind = SiteKind::kSelf;  // one of countable_kinds()
  int64_t limit = 0;                // of inputs; 0: all
  std::filesystem::path state;      // where the count is kept while it runs; empty: nowhere
  std::string dtype;                // what the engine computes in, as the user knows it
  bool importance = false;          // also run back from each input's answer
};

struct StatsResult {
  StatsState state;  // all inputs counted
  SiteKind kind = SiteKind::kSelf;
  int64_t resumed_at = 0;  // inputs that an earlier run had counted
};

// Which attentions can be counted over texts or pictures, the usual one first. Throws
// Error{kUnsupported} for a model that takes neither.
std::vector<SiteKind> countable_kinds(const Engine& engine, bool pictures);

// Whether the model gives each input one answer that importance can be asked about: a class, the
// next word, the surest object.
bool gives_answer(const Engine& engine);

// Whether a number can be counted there at all.
bool is_counted(MetricNeeds needs, const Engine& engine, bool pictures, SiteKind kind);

// Goes on from the state if it is of the same count, and removes it at the end. The sums are the
// same to the last digit as those of a run that nobody interrupted. Interrupted itself, it saves
// the state and ends the program.
StatsResult run_stats(const Engine& engine, const Corpus& corpus, bool pictures,
                      const StatsOptions& options);

}  // namespace fovea
