// Statistics of heads over a corpus: short texts side by side, nothing kept but sums, and a state
// from which an interrupted count goes on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fovea/cli/corpus.h"
#include "fovea/engine/engine.h"
#include "fovea/explain/corpus_statistics.h"

namespace fovea {

struct StatsOptions {
  int64_t limit = 0;            // of inputs; 0: all
  std::filesystem::path state;  // where the count is kept while it runs; empty: nowhere
};

struct StatsResult {
  CorpusStatistics statistics;
  SiteKind kind = SiteKind::kSelf;
  int64_t left_out = 0;      // inputs that the model cannot take
  std::string first_reason;  // why the first of them
  int64_t resumed_at = 0;    // inputs that an earlier run had counted
};

// Which attention is counted: that of the only stack, of an encoder, of a picture or a text tower.
SiteKind counted_kind(const Engine& engine, bool pictures);

// Goes on from `state` if it is of the same model and corpus, and removes it at the end. The sums
// are the same to the last digit as those of a run that nobody interrupted.
StatsResult run_stats(const Engine& engine, const Corpus& corpus, bool pictures,
                      const StatsOptions& options);

}  // namespace fovea
