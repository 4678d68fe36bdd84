// A count of statistics that is under way, kept in a file so that it can go on after an
// interruption.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "fovea/explain/corpus_statistics.h"

namespace fovea {

struct StatsState {
  int64_t next = 0;          // the first input that is not counted
  int64_t left_out = 0;      // inputs that the model cannot take
  std::string first_reason;  // why the first of them
  CorpusStatistics statistics;
};

// `identity` says what is counted: model, corpus, options.
void save_state(const std::filesystem::path& path, const StatsState& state, const Json& identity);

// None if there is no such file. Throws Error{kBadFile} if it is broken or of another count, or
// says that more than `inputs` are counted.
std::optional<StatsState> load_state(const std::filesystem::path& path, const Json& identity,
                                     int64_t inputs);

}  // namespace fovea
